#include "userspace/serving/targets_json.h"

#include <nlohmann/json.hpp>

#include <cmath>

#include "userspace/base/printable.h"
#include "userspace/export/json_values.h"
#include "userspace/tables/losses.h"

namespace hawk {
namespace {

using Json = nlohmann::ordered_json;

Json text_of(const std::string& text) { return text_or_null(printable_unicode(text)); }

template <class Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

void put_counters(Json& json, const Counters& counters) {
  json["allocated_bytes"] = counters.allocated_bytes;
  json["allocated_count"] = counters.allocated_count;
  json["freed_bytes"] = counters.freed_bytes;
  json["freed_count"] = counters.freed_count;
}

Json process_json(const ServedProcess& process) {
  Json json = {{"pid", process.pid},
               {"comm", text_of(process.comm)},
               {"exe", text_of(process.exe)},
               {"start_unix_ns", process.start_unix_ns},
               {"state", text_of(process.state)},
               {"exact", process.numbers_exact},
               {"live_bytes", process.totals.live_bytes()},
               {"live_count", process.totals.live_count()}};
  put_counters(json, process.totals);
  json["memory"] = nullptr;
  if (process.memory) {
    json["memory"] = {{"resident_bytes", process.memory->resident_bytes},
                      {"anonymous_bytes", process.memory->anonymous_bytes},
                      {"swapped_bytes", process.memory->swapped_bytes}};
  }
  return json;
}

Json cgroup_json(const std::optional<CgroupMemory>& cgroup) {
  if (!cgroup) return nullptr;
  return {{"current_bytes", cgroup->current_bytes},
          {"max_bytes", number_or_null(cgroup->max_bytes)},
          {"oom_kills", cgroup->oom_kills}};
}

Json losses_json(const Losses& losses) {
  Json json = Json::object();
  for (std::size_t cause = 0; cause < HAWK_LOSS_COUNT; ++cause) {
    json[std::string(loss_texts()[cause].json_name)] = losses.counts[cause];
  }
  return json;
}

Json target_json(const ServedTarget& target) {
  Json json = {{"name", text_of(target.name)},    {"mode", text_of(target.mode)},
               {"state", text_of(target.state)},  {"retry_ns", number_or_null(target.retry_ns)},
               {"live_bytes", target.live_bytes}, {"live_count", target.live_count}};
  put_counters(json, target.totals);
  json["processes_seen"] = target.processes_seen;
  json["processes_ended"] = target.processes_ended;
  json["processes_crashed"] = target.processes_crashed;
  json["oom_kills"] = target.oom_kills;
  json["traces_begun"] = target.traces_begun;
  json["budget_detaches"] = target.budget_detaches;
  json["calls"] = target.calls;
  json["cost_per_call_ns"] = number_or_null(target.cost_per_call_ns);
  // Integers alone: a millionth of a CPU is fine enough.
  json["overhead_ppm"] = std::isfinite(target.overhead) ? Json(std::llround(target.overhead * 1e6)) : Json(nullptr);
  json["cgroup"] = cgroup_json(target.cgroup);
  json["last_recording"] = text_of(target.last_recording);
  json["recording_bytes"] = target.recording_bytes;
  json["losses"] = losses_json(target.losses);
  json["processes"] = Json::array();
  for (const ServedProcess& process : target.processes) json["processes"].push_back(process_json(process));
  return json;
}

}  // namespace

std::string targets_json(std::span<const ServedTarget> targets) {
  Json json = {{"schema", "hawktrace.targets/1"}, {"targets", Json::array()}};
  for (const ServedTarget& target : targets) json["targets"].push_back(target_json(target));
  return json.dump() + "\n";
}

}  // namespace hawk
