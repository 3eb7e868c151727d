#pragma once

#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/selection/cgroup_mounts.h"
#include "userspace/selection/process_matcher.h"
#include "userspace/selection/process_query.h"

namespace hawk {

/// The processes that match, and the rules by which they match.
struct FoundProcesses {
  std::vector<ProcessFacts> processes;  ///< ascending by number; never empty
  ProcessMatcher matcher;               ///< for those that begin later
  /// What was found by what was given: "--unit nginx is the cgroup /system.slice/nginx.service".
  std::vector<std::string> notes;
};

/// What `query` comes to, among processes that there are.
struct FoundRules {
  ProcessMatcher matcher;
  std::vector<std::string> notes;  ///< as in FoundProcesses
  bool is_complete = true;         ///< false: something that is meant has no process, and is left out
};
/// What becomes of a unit, a cgroup or a container that has no process.
enum class Absent { kRefused, kLeftOut };
/// Errors: kNoTarget if a unit, a cgroup or a container that is meant has no process, or none of a list has one where
/// they are left out; kUsage if several are meant by one name. `processes`: all there are.
Result<FoundRules> find_rules(const ProcessQuery& query, const std::vector<ProcessFacts>& processes,
                              const std::vector<CgroupMount>& mounts, Absent absent = Absent::kRefused);

/// Every process that `query` means, which has criteria. Neither systemd nor a container's manager is asked: what they
/// call things is in the names of cgroups. Left out are kernel threads, those that have ended, and `own_pid` with its
/// children. Errors: kNoTarget if there is none, kUsage if several containers or units are meant by one name.
Result<FoundProcesses> find_processes(const ProcessQuery& query, const ProcRoot& proc, int own_pid);

/// All processes but those that are left out, ascending by number.
std::vector<ProcessFacts> all_processes(const ProcRoot& proc, int own_pid);

}  // namespace hawk
