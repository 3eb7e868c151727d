#include "userspace/export/json_views.h"

#include <fmt/core.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/export/json_escapes.h"
#include "userspace/report/frame_list.h"
#include "userspace/views/call_groups.h"
#include "userspace/views/call_paths.h"

namespace hawk {
namespace {

void append_counters(std::string& out, const Counters& counters) {
  fmt::format_to(std::back_inserter(out),
                 R"("live_bytes":{},"live_count":{},"allocated_bytes":{},"allocated_count":{},"freed_bytes":{},)"
                 R"("freed_count":{})",
                 counters.live_bytes(), counters.live_count(), counters.allocated_bytes, counters.allocated_count,
                 counters.freed_bytes, counters.freed_count);
}

void append_text(std::string& out, std::string_view key, std::string_view text) {
  out.append(1, '"').append(key).append(R"(":)");
  if (text.empty()) {
    out += "null";
  } else {
    append_json_text(out, text);
  }
}

void append_sum(std::string& out, std::string_view key, const StackSum& sum) {
  fmt::format_to(std::back_inserter(out), R"("{}":{{"stacks":{},)", key, sum.stacks);
  append_counters(out, sum.counters);
  out += '}';
}

std::string module_of(const ListedFrame& call, const Snapshot& snapshot) {
  const Module* const module = call.location.module ? find_module(snapshot, *call.location.module) : nullptr;
  return module != nullptr ? module->path : "";
}

/// What calls of a group have in common.
void append_identity(std::string& out, const CallGroup& group, GroupKind kind, const Snapshot& snapshot) {
  static const ListedFrame none;
  const ListedFrame& call = group.call != nullptr ? *group.call : none;
  append_text(out, "name", group_name(group, kind, snapshot, false));
  out += ',';
  switch (kind) {
    case GroupKind::kCaller:
      append_text(out, "caller", group.caller != nullptr ? group.caller->source.function : "");
      out += ',';
      [[fallthrough]];
    case GroupKind::kStack:
    case GroupKind::kFunction:
      append_text(out, "function", call.source.function);
      break;
    case GroupKind::kLine:
      fmt::format_to(std::back_inserter(out), R"("line":{},)",
                     call.source.line != 0 ? fmt::format("{}", call.source.line) : "null");
      [[fallthrough]];
    case GroupKind::kFile:
      append_text(out, "file", call.source.file);
      break;
    case GroupKind::kModule:
      append_text(out, "module", module_of(call, snapshot));
      break;
    case GroupKind::kProcess:
      fmt::format_to(std::back_inserter(out), R"("pid":{},)", group.target->pid);
      [[fallthrough]];
    case GroupKind::kExecutable:
      append_text(out, "exe", group.target->exe);
      break;
    case GroupKind::kCgroup:
      append_text(out, "cgroup", group.target->cgroup);
      break;
    case GroupKind::kThread:
      append_text(out, "thread", group.target->comm);
      break;
  }
}

bool hand_on(std::string& piece, const TextSink& sink) {
  if (piece.size() < kPieceBytes) return true;
  const bool wanted = sink(piece);
  piece.clear();
  return wanted;
}

}  // namespace

std::string view_json(const StackView& view, const FrameFilter& filter) {
  std::string out = "{";
  const std::pair<const char*, const std::optional<CallPattern>*> patterns[] = {
      {"focus", &filter.focus}, {"ignore", &filter.ignore}, {"hide", &filter.hide}};
  for (const auto& [key, pattern] : patterns) {
    append_text(out, key, *pattern ? (*pattern)->text() : "");
    out += ',';
  }
  append_text(out, "suppressions", filter.suppressions != nullptr ? filter.suppressions->path : "");
  out += ",\n    ";
  append_sum(out, "shown", view.shown);
  out += ",\n    ";
  append_sum(out, "left_out", view.left_out);
  out += ",\n    ";
  append_sum(out, "suppressed", view.suppressed);
  out += ",\n    \"rules\":[";
  for (std::size_t rule = 0; rule < view.by_rule.size(); ++rule) {
    fmt::format_to(std::back_inserter(out), "{}\n      {{", rule == 0 ? "" : ",");
    append_text(out, "template", filter.suppressions->rules[rule].text());
    fmt::format_to(std::back_inserter(out), R"(,"stacks":{},)", view.by_rule[rule].stacks);
    append_counters(out, view.by_rule[rule].counters);
    out += '}';
  }
  return out + "]}";
}

bool write_groups(const JsonGrouping& grouping, std::string& piece, const TextSink& sink) {
  const GroupKind kind = grouping.grouping.by;
  if (kind == GroupKind::kStack || grouping.grouping.tree) return true;
  std::vector<CallGroup> groups =
      group_calls(grouping.view, grouping.calls, grouping.snapshot, kind, grouping.with_folded);
  fmt::format_to(std::back_inserter(piece), ",\n  \"groups\": {{\"by\":\"{}\",\"rows_total\":{},\"rows\":[",
                 group_kind_name(kind), groups.size());
  select_groups(groups, grouping.selection, grouping.grouping.cumulative_first);
  for (std::size_t row = 0; row < groups.size(); ++row) {
    piece += row == 0 ? "\n    {" : ",\n    {";
    append_identity(piece, groups[row], kind, grouping.snapshot);
    if (groups[row].target != nullptr) {
      fmt::format_to(std::back_inserter(piece), R"(,"{}":{})", kind == GroupKind::kThread ? "threads" : "processes",
                     groups[row].processes);
    }
    piece += R"(,"self":{)";
    append_counters(piece, groups[row].self.counters);
    piece += "},";
    append_sum(piece, "cumulative", groups[row].cumulative);
    piece += '}';
    if (!hand_on(piece, sink)) return false;
  }
  piece += "]}";
  return true;
}

bool write_tree(const JsonGrouping& grouping, std::string& piece, const TextSink& sink) {
  if (!grouping.grouping.tree) return true;
  CallPaths paths(grouping.snapshot, grouping.view, grouping.calls, grouping.grouping, grouping.with_folded);
  fmt::format_to(
      std::back_inserter(piece), ",\n  \"tree\": {{\"direction\":\"{}\",{}\"nodes\":[",
      tree_direction_name(*grouping.grouping.tree),
      grouping.grouping.split_by() ? fmt::format("\"by\":\"{}\",", group_kind_name(grouping.grouping.by)) : "");
  struct Pending {
    CallPaths::Node node;
    std::optional<std::size_t> parent;
  };
  std::vector<Pending> pending;
  const auto push_below = [&](const CallPaths::Node& node, std::optional<std::size_t> number) {
    const std::vector<CallPaths::Node> below = paths.below(node, grouping.selection.sort);
    for (std::size_t i = below.size(); i-- > 0;) pending.push_back({below[i], number});
  };
  push_below(paths.root(), std::nullopt);
  for (std::size_t number = 0; !pending.empty(); ++number) {
    const Pending next = pending.back();
    pending.pop_back();
    fmt::format_to(std::back_inserter(piece), "{}\n    {{\"parent\":{},\"depth\":{},", number == 0 ? "" : ",",
                   next.parent ? fmt::format("{}", *next.parent) : "null", next.node.depth - 1);
    append_text(piece, "name", paths.name_of(next.node, false));
    piece += R"(,"total":{)";
    append_counters(piece, next.node.all);
    piece += R"(},"self":{)";
    append_counters(piece, next.node.own);
    piece += "}}";
    if (!hand_on(piece, sink)) return false;
    push_below(next.node, number);
  }
  piece += "]}";
  return true;
}

}  // namespace hawk
