#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "userspace/analysis/diff_text.h"
#include "userspace/export/json_escapes.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

Json counters_of(const Counters& counters) {
  return {{"live_bytes", counters.live_bytes()},         {"live_count", counters.live_count()},
          {"allocated_bytes", counters.allocated_bytes}, {"allocated_count", counters.allocated_count},
          {"freed_bytes", counters.freed_bytes},         {"freed_count", counters.freed_count}};
}

Json change_between(const Counters& before, const Counters& after) {
  return {{"live_bytes", change_of(before.live_bytes(), after.live_bytes())},
          {"live_count", change_of(before.live_count(), after.live_count())},
          {"allocated_bytes", change_of(before.allocated_bytes, after.allocated_bytes)},
          {"allocated_count", change_of(before.allocated_count, after.allocated_count)},
          {"freed_bytes", change_of(before.freed_bytes, after.freed_bytes)},
          {"freed_count", change_of(before.freed_count, after.freed_count)}};
}

Json target_of(const TargetInfo& target) { return {{"pid", target.pid}, {"comm", target.comm}, {"exe", target.exe}}; }

Json state_of(const Snapshot& snapshot) {
  Json targets = Json::array();
  for (const TargetInfo& target : snapshot.targets) targets.push_back(target_of(target));
  return {{"exact", snapshot.exact()},
          {"target", snapshot.parts.empty() ? target_of(snapshot.target()) : Json(nullptr)},
          {"targets", std::move(targets)},
          {"start_unix_ns", snapshot.trace.start_unix_ns},
          {"duration_ns", snapshot.trace.duration_ns},
          {"totals", counters_of(snapshot.totals)}};
}

Json stack_of(const StackChange& change) {
  Json frames = Json::array();
  for (const ComparedCall& call : change.calls) {
    Json frame = {{"function", call.function}};
    frame["module"] = call.module.empty() ? Json(nullptr) : Json(call.module);
    frames.push_back(std::move(frame));
  }
  return {{"before", counters_of(change.before)},
          {"after", counters_of(change.after)},
          {"change", change_between(change.before, change.after)},
          {"frames", std::move(frames)}};
}

/// As the JSON report has it, of both states.
Json view_of(const SnapshotDiff& diff) {
  const auto text_of = [](const std::optional<CallPattern>& pattern) {
    return pattern ? Json(pattern->text()) : Json(nullptr);
  };
  const FrameFilter& filter = diff.filter;
  return {{"focus", text_of(filter.focus)},
          {"ignore", text_of(filter.ignore)},
          {"hide", text_of(filter.hide)},
          {"suppressions", filter.suppressions != nullptr ? Json(filter.suppressions->path) : Json(nullptr)},
          {"before", counters_of(diff.compared_before)},
          {"after", counters_of(diff.compared_after)}};
}

}  // namespace

std::string render_diff_json(const SnapshotDiff& diff) {
  Json stacks = Json::array();
  for (const StackChange& change : diff.changes) stacks.push_back(stack_of(change));
  Json document = {{"schema", "hawktrace.diff/1"},
                   {"hawktrace_version", HAWKTRACE_VERSION},
                   {"before", state_of(diff.before)},
                   {"after", state_of(diff.after)},
                   {"change", change_between(diff.before.totals, diff.after.totals)},
                   {"sort", sort_key_name(diff.sort)},
                   {"changed_stacks", diff.changed}};
  if (!diff.filter.is_empty()) document["view"] = view_of(diff);
  document["stacks"] = std::move(stacks);
  return without_commands(document.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace hawk
