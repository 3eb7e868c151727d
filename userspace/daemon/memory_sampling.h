#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/selection/cgroup_mounts.h"
#include "userspace/selection/process_facts.h"
#include "userspace/serving/served_targets.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Where the memory of a cgroup is accounted.
struct MemoryCgroupPath {
  std::string directory;
  std::string mount_point;  ///< that it lies below: limits of those between hold as well
  bool is_version_1 = false;
  bool operator==(const MemoryCgroupPath&) const = default;
};

/// The cgroup of a process in the hierarchy that accounts memory; nullopt: there is none, or it is that of all.
std::optional<MemoryCgroupPath> memory_cgroup_of(const ProcessFacts& process, const std::vector<CgroupMount>& mounts);

/// What the kernel says of a cgroup, now.
struct CgroupReading {
  CgroupMemory memory = {};
  std::optional<std::uint64_t> left_bytes = {};  ///< until the nearest limit, with what cannot be reclaimed alone
  std::optional<double> pressure_percent = {};   ///< PSI "some avg10"; not in version 1
};
/// nullopt: it has been removed.
std::optional<CgroupReading> read_cgroup_memory(const MemoryCgroupPath& cgroup);

/// Bytes that are left on this machine, swap space included.
std::optional<std::uint64_t> read_machine_memory_left();

/// The memory of a process; nullopt: it has ended.
std::optional<ProcessMemory> read_process_memory(int pid);

/// The number in the line "NAME NUMBER" of a memory.stat, memory.events or memory.oom_control.
std::optional<std::uint64_t> number_in_lines(std::string_view text, std::string_view name);
/// "some avg10=1.50 ..." as 1.5.
std::optional<double> pressure_in(std::string_view text);

}  // namespace hawk
