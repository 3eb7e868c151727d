#include "userspace/report/json_report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>
#include <vector>

#include "userspace/report/frame_list.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kPieceBytes = 64 * 1024;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

/// Names come from the target and from debug information, so they may be any bytes: replaced, never thrown over.
std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

Json counters_json(const Counters& counters) {
  Json json;
  json["live_bytes"] = counters.live_bytes();
  json["live_count"] = counters.live_count();
  json["allocated_bytes"] = counters.allocated_bytes;
  json["allocated_count"] = counters.allocated_count;
  json["freed_bytes"] = counters.freed_bytes;
  json["freed_count"] = counters.freed_count;
  return json;
}

Json allocator_json(const Allocator& allocator) {
  Json functions = Json::array();
  for (const ProbedFunction& function : allocator.functions) {
    Json json;
    json["name"] = function.name;
    json["aliases"] = function.aliases;
    json["file_offset"] = function.file_offset;
    json["probe_offset"] = function.probe_offset;
    json["instruction"] = text_or_null(function.instruction);
    json["single_stepped"] = function.single_stepped;
    functions.push_back(std::move(json));
  }
  Json json;
  json["path"] = allocator.path;
  json["build_id"] = text_or_null(allocator.build_id);
  json["functions"] = std::move(functions);
  return json;
}

Json target_json(const TargetInfo& target) {
  Json json;
  json["pid"] = target.pid;
  json["comm"] = text_or_null(target.comm);
  json["exe"] = text_or_null(target.exe);
  json["allocators"] = Json::array();
  for (const Allocator& allocator : target.allocators) json["allocators"].push_back(allocator_json(allocator));
  return json;
}

Json trace_json(const TraceInfo& trace) {
  Json json;
  json["attach_via"] = text_or_null(trace.attach_via);
  json["unwind"] = text_or_null(trace.unwind);
  json["start_unix_ns"] = trace.start_unix_ns;
  json["duration_ns"] = trace.duration_ns;
  json["kernel"] = text_or_null(trace.kernel);
  json["target_exited"] = trace.target_exited;
  json["exec_count"] = trace.exec_count;
  json["verified"] = trace.verified ? Json(*trace.verified) : Json(nullptr);
  return json;
}

Json losses_json(const Losses& losses) {
  Json json = Json::object();
  for (std::size_t cause = 0; cause < losses.counts.size(); ++cause) {
    json[std::string(loss_texts()[cause].json_name)] = losses.counts[cause];
  }
  return json;
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

Json frame_json(const ListedFrame& frame, const Snapshot& snapshot) {
  const Module* module = frame.place.module ? find_module(snapshot, *frame.place.module) : nullptr;
  Json json;
  json["address"] = hex(frame.place.address);
  json["module"] = module != nullptr ? text_or_null(module->path) : Json(nullptr);
  json["build_id"] = module != nullptr ? text_or_null(module->build_id) : Json(nullptr);
  json["module_offset"] = module != nullptr ? hex(frame.place.module_offset) : Json(nullptr);
  json["function"] = text_or_null(frame.source.function);
  json["file"] = text_or_null(frame.source.file);
  json["line"] = frame.source.line != 0 ? Json(frame.source.line) : Json(nullptr);
  json["inlined"] = frame.source.inlined;
  return json;
}

Json stack_json(const StackRecord& stack, const Snapshot& snapshot, Symbolizer& symbolizer) {
  Json json;
  json["id"] = static_cast<std::uint32_t>(stack.id);
  json.update(counters_json(stack.counters));
  json["truncated"] = stack.truncated;
  json["frames"] = Json::array();
  for (const ListedFrame& frame : list_frames(stack, symbolizer)) {
    json["frames"].push_back(frame_json(frame, snapshot));
  }
  return json;
}

/// Everything but the stacks.
Json head_json(const Snapshot& snapshot, const JsonOptions& options, std::size_t shown) {
  Json totals = counters_json(snapshot.totals);
  totals["peak_live_bytes"] = snapshot.peak_live_bytes;
  totals["frees_of_untraced"] = snapshot.frees_of_untraced;
  Json json;
  json["schema"] = "hawktrace.report/1";
  json["hawktrace_version"] = options.hawktrace_version;
  json["exact"] = snapshot.exact();
  json["target"] = target_json(snapshot.target);
  json["trace"] = trace_json(snapshot.trace);
  json["totals"] = std::move(totals);
  json["losses"] = losses_json(snapshot.losses);
  json["selection"] = selection_json(options.selection, snapshot.stacks.size(), shown);
  return json;
}

}  // namespace

void write_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options, const TextSink& sink) {
  const std::vector<const StackRecord*> stacks = select_stacks(snapshot, options.selection);
  std::string piece = dump(head_json(snapshot, options, stacks.size()), 2);
  piece.resize(piece.size() - 2);  // "\n}": the object goes on
  piece += ",\n  \"stacks\": [";
  for (std::size_t index = 0; index < stacks.size(); ++index) {
    piece += index == 0 ? "\n    " : ",\n    ";
    piece += dump(stack_json(*stacks[index], snapshot, symbolizer), -1);
    if (piece.size() < kPieceBytes) continue;
    if (!sink(piece)) return;
    piece.clear();
  }
  piece += stacks.empty() ? "]\n}\n" : "\n  ]\n}\n";
  sink(piece);
}

std::string render_json(const Snapshot& snapshot, Symbolizer& symbolizer, const JsonOptions& options) {
  std::string document;
  write_json(snapshot, symbolizer, options, [&](std::string_view piece) {
    document += piece;
    return true;
  });
  return document;
}

}  // namespace hawk
