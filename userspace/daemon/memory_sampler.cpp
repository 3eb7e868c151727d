#include "userspace/daemon/memory_sampler.h"

#include <algorithm>
#include <map>

namespace hawk {
namespace {

std::optional<std::uint64_t> lesser(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

}  // namespace

std::optional<WatchFinding> sample_if_due(TargetState& target, TargetState::Time now) {
  if (target.config.mode == TargetMode::kOff || now < target.next_sample) return std::nullopt;
  target.next_sample = now + target.config.watch.every;
  target.cgroup.reset();
  if (target.processes.empty()) return std::nullopt;
  MemorySample sample = {.time = now, .used_bytes = 0, .left_bytes = read_machine_memory_left()};
  std::map<std::string, std::optional<CgroupReading>> cgroups;
  for (auto& [pid, process] : target.processes) {
    if (const auto memory = read_process_memory(pid)) process.memory = memory;
    if (process.memory) sample.used_bytes += process.memory->anonymous_bytes + process.memory->swapped_bytes;
    if (!process.cgroup) continue;
    const auto [known, is_new] = cgroups.try_emplace(process.cgroup->directory);
    if (is_new) known->second = read_cgroup_memory(*process.cgroup);
    if (!known->second) continue;
    const CgroupReading& reading = *known->second;
    if (!target.cgroup) target.cgroup = reading.memory;
    sample.left_bytes = lesser(sample.left_bytes, reading.left_bytes);
    sample.pressure_percent = std::max(sample.pressure_percent, reading.pressure_percent);
  }
  std::optional<WatchFinding> finding = target.watch.note(sample);
  if (target.config.mode != TargetMode::kWatch || target.window_ends) return std::nullopt;
  return finding;
}

}  // namespace hawk
