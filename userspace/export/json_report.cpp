#include "userspace/export/json_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "userspace/export/json_escapes.h"
#include "userspace/export/json_line.h"
#include "userspace/export/json_target.h"
#include "userspace/export/json_values.h"
#include "userspace/export/json_views.h"
#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/period.h"
#include "userspace/report/symbol_gaps.h"
#include "userspace/report/trap_costs.h"
#include "userspace/report/unwind_shares.h"
#include "userspace/tables/fingerprint.h"
#include "userspace/tables/stack_ends.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

Json trace_json(const TraceInfo& trace) {
  Json json;
  json["attach_via"] = text_or_null(trace.attach_via);
  json["live_table"] = text_or_null(trace.live_table);
  json["unwind"] = text_or_null(trace.unwind);
  json["min_block_bytes"] = trace.min_block_bytes;
  json["start_unix_ns"] = trace.start_unix_ns;
  json["duration_ns"] = trace.duration_ns;
  json["interval_ns"] = trace.interval_ns;
  json["kernel"] = text_or_null(trace.kernel);
  json["target_exited"] = trace.target_exited;
  json["exec_count"] = trace.exec_count;
  json["dump_cause"] = text_or_null(std::string(dump_cause_name(trace.dump_cause)));
  json["verified"] = trace.verified ? Json(*trace.verified) : Json(nullptr);
  return json;
}

/// What tracing took.
Json usage_json(const Snapshot& snapshot) {
  if (!snapshot.usage) return nullptr;
  const auto number_or_null = [](const std::optional<std::uint64_t>& number) {
    return number ? Json(*number) : Json(nullptr);
  };
  Json json;
  json["cpu_ns"] = snapshot.usage->cpu_ns;
  json["peak_resident_bytes"] = snapshot.usage->peak_resident_bytes;
  json["table_bytes"] = snapshot.usage->table_bytes;
  json["target_cpu_ns"] = number_or_null(snapshot.usage->target_cpu_ns);
  json["traps_ns"] = number_or_null(trap_time_ns(snapshot));
  return json;
}

Json path_json(const Snapshot& snapshot, ModuleId id) {
  const Module* module = find_module(snapshot, id);
  return text_or_null(module != nullptr ? module->path : "");
}

Json unwinding_json(const Snapshot& snapshot) {
  const UnwindShares shares = unwind_shares(snapshot);
  Json json;
  for (const enum hawk_stack_quality quality : {HAWK_STACK_COMPLETE, HAWK_STACK_GUESSED, HAWK_STACK_TRUNCATED}) {
    const StackGroup& group = shares.by_quality[quality];
    Json& kind = json[std::string(quality_name(quality))];
    kind["live_bytes"] = group.counters.live_bytes();
    kind["live_count"] = group.counters.live_count();
    kind["allocated_bytes"] = group.counters.allocated_bytes;
    kind["stacks"] = group.stacks;
  }
  json["ends"] = Json::object();
  for (std::size_t end = 0; end < shares.by_end.size(); ++end) {
    const StackGroup& group = shares.by_end[end];
    if (group.stacks == 0) continue;
    Json& cause = json["ends"][std::string(end_text(static_cast<hawk_end>(end)).json_name)];
    cause["live_bytes"] = group.counters.live_bytes();
    cause["allocated_bytes"] = group.counters.allocated_bytes;
    cause["stacks"] = group.stacks;
  }
  json["unsupported_rules"] = Json::array();
  for (const UnsupportedRules& rules : snapshot.unwind.unsupported_rules) {
    Json unsupported;
    unsupported["module"] = path_json(snapshot, rules.module);
    unsupported["reason"] = rules.reason;
    unsupported["rows"] = rules.rows;
    json["unsupported_rules"].push_back(std::move(unsupported));
  }
  json["modules_without_table"] = Json::array();
  for (const ModuleId module : snapshot.unwind.modules_without_table) {
    json["modules_without_table"].push_back(path_json(snapshot, module));
  }
  json["cache_misses"] = snapshot.unwind.cache_misses;
  return json;
}

/// Files of which less is known than they hold.
Json symbol_gaps_json(const Snapshot& snapshot, Symbolizer& symbolizer) {
  Json gaps = Json::array();
  if (has_nameless_code_in_no_file(snapshot, symbolizer)) {
    constexpr const char* kReason = "code in no file, as interpreters and JIT compilers make it: no perf map names it";
    gaps.push_back(Json{{"module", nullptr}, {"reason", kReason}});
  }
  for (std::size_t index = 0; index < snapshot.modules.size(); ++index) {
    const ModuleId id{static_cast<std::uint32_t>(index)};
    const std::string reason = symbolizer.gap(id);
    if (reason.empty()) continue;
    gaps.push_back(Json{{"module", path_json(snapshot, id)}, {"reason", reason}});
  }
  return gaps;
}

Json selection_json(const Selection& selection, std::size_t total, std::size_t shown) {
  Json json;
  json["sort"] = std::string(sort_key_name(selection.sort));
  json["top"] = selection.top;
  json["min_size_bytes"] = selection.min_size_bytes;
  json["stacks_total"] = total;
  json["stacks_shown"] = shown;
  return json;
}

void append_text_or_null(std::string& out, std::string_view text) {
  if (text.empty()) {
    out += "null";
  } else {
    append_json_text(out, text);
  }
}

std::string frame_json(const Location& location, const Module* module, const SourceFrame& source, bool is_hidden) {
  std::string out;
  const auto to_out = [&] { return std::back_inserter(out); };
  fmt::format_to(to_out(), R"({{"address":"{:#x}","module":)", location.address);
  append_text_or_null(out, module != nullptr ? module->path : "");
  out += R"(,"build_id":)";
  append_text_or_null(out, module != nullptr ? module->build_id : "");
  out += R"(,"module_offset":)";
  append_text_or_null(out, module != nullptr ? fmt::format("{:#x}", location.module_offset) : "");
  out += R"(,"function":)";
  append_text_or_null(out, source.function);
  out += R"(,"file":)";
  append_text_or_null(out, source.file);
  out += R"(,"line":)";
  out += source.line != 0 ? fmt::format("{}", source.line) : "null";
  out += source.inlined ? R"(,"inlined":true)" : R"(,"inlined":false)";
  if (location.interrupted) out += R"(,"interrupted":true)";
  out += is_hidden ? R"(,"hidden":true})" : R"(,"hidden":false})";
  out.shrink_to_fit();
  return out;
}

/// The calls of all stacks as JSON. They are written once: a report repeats a few thousand of them millions of times.
class CallTexts {
 public:
  CallTexts(const Snapshot& snapshot, const CallTable& calls) : snapshot_(snapshot), calls_(calls) {
    for (std::vector<std::string>& frames : frames_) frames.resize(calls.size());
    labels_.resize(calls.size());
  }

  /// Whether a call is hidden differs from stack to stack.
  const std::string& frame(const ListedFrame& call, bool is_hidden) {
    std::string& text = frames_[is_hidden ? 1 : 0][calls_.number_of(call)];
    if (text.empty()) {
      const Module* module = call.location.module ? find_module(snapshot_, *call.location.module) : nullptr;
      text = frame_json(call.location, module, call.source, is_hidden);
    }
    return text;
  }

  /// The label of a stack of these calls.
  std::string label(const FrameList& calls) {
    if (calls.empty()) return "null";
    const ListedFrame& naming = *calls[calls_.has_interpreted() ? naming_frame(calls) : deciding_frame(calls)];
    std::string& text = labels_[calls_.number_of(naming)];
    if (text.empty()) append_text_or_null(text, stack_label(calls));
    if (!naming.source.function.empty()) return text;
    return std::exchange(text, {});  // it depends on the callers
  }

 private:
  const Snapshot& snapshot_;
  const CallTable& calls_;
  std::array<std::vector<std::string>, 2> frames_;  ///< by number, shown and hidden; empty until asked for
  std::vector<std::string> labels_;
};

void append_since(std::string& out, const Counters& since) {
  fmt::format_to(std::back_inserter(out),
                 R"("since_previous_report":{{"allocated_bytes":{},"allocated_count":{},"freed_bytes":{},)"
                 R"("freed_count":{}}},)",
                 since.allocated_bytes, since.allocated_count, since.freed_bytes, since.freed_count);
}

/// Whose the counters of a stack are, where there are several processes.
void append_shares(std::string& out, const Snapshot& snapshot, StackId stack) {
  const char* before = R"("by_target":[)";
  for (const StackShare& share : snapshot.shares_of(stack)) {
    const Counters& own = share.counters;
    const auto target = static_cast<std::size_t>(share.target);
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"target":{},"pid":{},"live_bytes":{},"live_count":{},"allocated_bytes":{},)"
                   R"("allocated_count":{},"freed_bytes":{},"freed_count":{}}})",
                   before, target, snapshot.targets[target].pid, own.live_bytes(), own.live_count(),
                   own.allocated_bytes, own.allocated_count, own.freed_bytes, own.freed_count);
    before = ",";
  }
  out += "],";
}

void append_stack(std::string& out, const StackRecord& stack, std::uint64_t fingerprint, const FrameList& calls,
                  CallTexts& texts, const Period& period) {
  const Counters& counters = stack.counters;
  const enum hawk_stack_quality quality = stack.quality();
  fmt::format_to(std::back_inserter(out), R"({{"id":{},"fingerprint":)", static_cast<std::uint32_t>(stack.id));
  if (stack.id == kNoStack) {
    out += "null";
  } else {
    fmt::format_to(std::back_inserter(out), R"("{:016x}")", fingerprint);
  }
  out.append(R"(,"label":)").append(texts.label(calls)).append(1, ',');
  fmt::format_to(std::back_inserter(out),
                 R"("live_bytes":{},"live_count":{},"allocated_bytes":{},"allocated_count":{},)"
                 R"("freed_bytes":{},"freed_count":{},"truncated":{},)",
                 counters.live_bytes(), counters.live_count(), counters.allocated_bytes, counters.allocated_count,
                 counters.freed_bytes, counters.freed_count, quality == HAWK_STACK_TRUNCATED);
  if (period.previous != nullptr) {
    append_since(out, difference(counters, period.counters_before(stack.id)));
  }
  if (!period.now.parts.empty()) append_shares(out, period.now, stack.id);
  if (stack.id == kNoStack) {
    out += R"("unwound":null,"end":null,"frames":[)";
  } else {
    fmt::format_to(std::back_inserter(out), R"("unwound":"{}","end":"{}","frames":[)", quality_name(quality),
                   end_text(stack.end).json_name);
  }
  const std::vector<bool> hidden = hidden_frames(calls);
  for (std::size_t index = 0; index < calls.size(); ++index) {
    if (index != 0) out += ',';
    out += texts.frame(*calls[index], hidden[index]);
  }
  out += "]}";
}

/// Everything but the stacks.
Json head_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, std::size_t shown) {
  Json totals = counters_json(snapshot.totals);
  totals["peak_live_bytes"] = snapshot.peak_live_bytes;
  totals["peak_is_lower_bound"] = true;
  totals["frees_of_untraced"] = snapshot.frees_of_untraced;
  Json json;
  json["schema"] = "hawktrace.report/1";
  json["hawktrace_version"] = options.hawktrace_version;
  json["exact"] = snapshot.exact();
  json["numbers_exact"] = snapshot.numbers_exact();
  json["stacks_complete"] = snapshot.stacks_complete();
  put_json_targets(json, snapshot);
  json["trace"] = trace_json(snapshot.trace);
  json["totals"] = std::move(totals);
  if (const Period period(snapshot, options.previous); period.previous != nullptr) {
    Json since = counters_json(difference(snapshot.totals, &period.previous->totals));
    since.erase("live_bytes");  // it may have shrunk, and is to be had from the others
    since.erase("live_count");
    since["duration_ns"] = period.elapsed_ns;
    json["since_previous_report"] = std::move(since);
  }
  json["memory"] = memory_json(snapshot.memory);
  json["usage"] = usage_json(snapshot);
  json["losses"] = losses_json(snapshot.losses);
  json["untraced_children"] = children_json(snapshot.losses, snapshot.children);
  json["unwinding"] = unwinding_json(snapshot);
  json["symbol_gaps"] = symbol_gaps_json(snapshot, symbolizer);
  json["selection"] = selection_json(options.selection, snapshot.stacks.size(), shown);
  return json;
}

void write_lines(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, const TextSink& sink) {
  const Period period(snapshot, options.previous);
  const StackView view = make_stack_view(snapshot, symbolizer, options.filter, options.before_symbolizing);
  const std::vector<const StackRecord*> stacks = select_stacks(view.stacks, options.selection);
  const bool is_grouped = options.grouping.tree || options.grouping.by != GroupKind::kStack;
  const CallTable calls(snapshot, is_grouped ? view.stacks : stacks, symbolizer, options.role_of,
                        options.before_symbolizing, options.filter.hides(snapshot));
  CallTexts texts(snapshot, calls);
  const Fingerprints fingerprints(snapshot);
  std::string piece = json_text(head_json(snapshot, symbolizer, options, stacks.size()), 2);
  piece.resize(piece.size() - 2);  // "\n}": the object goes on
  if (!options.filter.is_empty()) piece += ",\n  \"view\": " + view_json(view, options.filter);
  const JsonGrouping grouped = {snapshot, view, calls, options.selection, options.grouping, options.with_folded};
  if (!write_groups(grouped, piece, sink) || !write_tree(grouped, piece, sink)) return;
  piece += ",\n  \"stacks\": [";
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    piece += index == 0 ? "\n    " : ",\n    ";
    append_stack(piece, *stacks[index], fingerprints.of(*stacks[index]), calls.list(*stacks[index]), texts, period);
    if (piece.size() < kPieceBytes) continue;
    if (!sink(piece)) return;
    piece.clear();
  }
  piece += stacks.empty() ? "]\n}\n" : "\n  ]\n}\n";
  sink(piece);
}

}  // namespace

void write_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, const TextSink& sink) {
  if (!options.one_line) return write_lines(snapshot, symbolizer, options, sink);
  bool wanted = true;
  write_lines(snapshot, symbolizer, options,
              [&](std::string_view piece) { return wanted = sink(without_lines(piece)); });
  if (wanted) sink("\n");
}

void write_json_report(const ReportRequest& request, const TextSink& sink) {
  JsonOptions options;
  options.selection = request.selection;
  options.role_of = request.role_of;
  options.hawktrace_version = request.hawktrace_version;
  options.previous = request.previous;
  options.one_line = request.is_one_of_several;
  options.before_symbolizing = request.before_symbolizing;
  options.filter = request.filter;
  options.grouping = request.grouping;
  options.with_folded = request.full_stacks;
  write_json(request.snapshot, request.symbolizer, options, sink);
}

std::string render_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options) {
  return text_of_document([&](const TextSink& sink) { write_json(snapshot, symbolizer, options, sink); });
}

}  // namespace hawk
