#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/cgroup_membership.h"
#include "userspace/selection/proc_root.h"

namespace hawk {

/// What says whether a process is meant. All of it is of one process, whatever happens to its number meanwhile.
struct ProcessFacts {
  int pid = 0;
  int parent = 0;
  std::uint64_t start_ticks = 0;  ///< when it began: with its number what it is known by
  std::string comm;
  std::string executable;  ///< as it sees it, without " (deleted)"; empty: it may not be asked
  std::vector<CgroupMembership> cgroups;
  bool operator==(const ProcessFacts&) const = default;
};

/// nullopt: it has ended (a zombie has), is a kernel thread, or never was.
std::optional<ProcessFacts> read_facts(const ProcRoot& proc, int pid);

}  // namespace hawk
