#include "userspace/export/json_target.h"

#include <string>
#include <utility>

#include "userspace/export/json_values.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

Json point_json(const ProbedPoint& point) {
  Json json;
  json["shows"] = point_shows_name(point.shows);
  json["file_offset"] = point.file_offset;
  json["conditional"] = point.conditional;
  json["single_stepped"] = point.single_stepped;
  json["cost_ns"] = point.cost_ns ? Json(*point.cost_ns) : Json(nullptr);
  json["calls"] = point.calls ? Json(*point.calls) : Json(nullptr);
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
    json["cost_ns"] = function.cost_ns ? Json(*function.cost_ns) : Json(nullptr);
    json["points"] = Json::array();
    for (const ProbedPoint& point : function.points) json["points"].push_back(point_json(point));
    json["points_fallback"] = text_or_null(function.points_fallback);
    functions.push_back(std::move(json));
  }
  Json json;
  json["path"] = allocator.path;
  json["build_id"] = text_or_null(allocator.build_id);
  json["functions"] = std::move(functions);
  return json;
}

Json thread_json(const NamedThread& thread) {
  Json json;
  json["tid"] = thread.tid;
  json["name"] = thread.name;
  json["first_seen_ns"] = thread.first_seen_ns;
  json["gone_ns"] = thread.gone_ns ? Json(*thread.gone_ns) : Json(nullptr);
  return json;
}

Json target_json(const TargetInfo& target) {
  Json json;
  json["pid"] = target.pid;
  json["comm"] = text_or_null(target.comm);
  json["exe"] = text_or_null(target.exe);
  json["cgroup"] = text_or_null(target.cgroup);
  json["allocators"] = Json::array();
  for (const Allocator& allocator : target.allocators) json["allocators"].push_back(allocator_json(allocator));
  json["threads"] = Json::array();
  for (const NamedThread& thread : named_threads(target.threads)) json["threads"].push_back(thread_json(thread));
  return json;
}

/// One of several, with what of the report's numbers is its own.
Json part_json(const TargetInfo& target, const TargetPart& part) {
  Json json = target_json(target);
  json["exact"] = part.exact();
  json["numbers_exact"] = part.numbers_exact();
  json["stacks_complete"] = part.stacks_complete;
  json["start_unix_ns"] = part.start_unix_ns;
  json["duration_ns"] = part.duration_ns;
  json["target_exited"] = part.target_exited;
  json["exec_count"] = part.exec_count;
  json["verified"] = part.verified ? Json(*part.verified) : Json(nullptr);
  Json totals = counters_json(part.totals);
  totals["peak_live_bytes"] = part.peak_live_bytes;
  totals["peak_is_lower_bound"] = true;
  totals["peak_live_bytes_most"] = number_or_null(part.peak_live_bytes_most);
  totals["frees_of_untraced"] = part.frees_of_untraced;
  json["totals"] = std::move(totals);
  json["memory"] = memory_json(part.memory);
  json["losses"] = losses_json(part.losses);
  json["untraced_children"] = children_json(part.losses, part.children);
  return json;
}

}  // namespace

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

Json memory_json(const std::optional<ProcessMemory>& memory) {
  if (!memory) return nullptr;
  Json json;
  json["resident_bytes"] = memory->resident_bytes;
  json["anonymous_bytes"] = memory->anonymous_bytes;
  json["swapped_bytes"] = memory->swapped_bytes;
  json["live_bytes"] = memory->live_bytes;
  return json;
}

Json losses_json(const Losses& losses) {
  Json json = Json::object();
  for (std::size_t cause = 0; cause < losses.counts.size(); ++cause) {
    json[std::string(loss_texts()[cause].json_name)] = losses.counts[cause];
  }
  return json;
}

Json children_json(const Losses& losses, const UntracedChildren& children) {
  Json json;
  json["count"] = losses[HAWK_LOSS_UNTRACED_CHILD];
  json["without_exec"] = children.without_exec;
  json["programs"] = Json::array();
  for (const ChildProgram& program : children.programs) {
    Json started;
    started["comm"] = program.comm;
    started["count"] = program.count;
    json["programs"].push_back(std::move(started));
  }
  return json;
}

void put_json_targets(Json& json, const Snapshot& snapshot) {
  json["target"] = snapshot.parts.empty() ? target_json(snapshot.target()) : Json(nullptr);
  if (snapshot.parts.empty()) return;
  json["targets"] = Json::array();
  for (std::size_t index = 0; index < snapshot.parts.size(); ++index) {
    json["targets"].push_back(part_json(snapshot.targets[index], snapshot.parts[index]));
  }
}

}  // namespace hawk
