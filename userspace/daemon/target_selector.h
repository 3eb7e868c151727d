#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/regular_file.h"
#include "userspace/daemon/config.h"
#include "userspace/selection/cgroup_mounts.h"
#include "userspace/selection/process_facts.h"
#include "userspace/selection/process_matcher.h"

namespace hawk {

/// Decides which processes a target means. Units, cgroups and containers need not be there yet.
class TargetSelector {
 public:
  explicit TargetSelector(const TargetConfig& config) : query_(config.processes), pid_file_(config.pid_file) {}

  /// To be called before matches(), with all processes there are: what a unit or a container is follows from its
  /// processes. `may_have_moved`: what was found out before is asked again.
  void look(const std::vector<ProcessFacts>& processes, const std::vector<CgroupMount>& mounts, bool may_have_moved);
  bool matches(const ProcessFacts& process) const;
  /// Why the configuration cannot be followed: "--unit: 2 users have a unit x". Empty: it can.
  const std::string& objection() const { return objection_; }

 private:
  ProcessQuery query_;
  std::string pid_file_;
  std::optional<ProcessMatcher> matcher_;  ///< nullopt: nothing there is meant, as far as is known
  bool is_complete_ = true;                ///< all that is meant has processes
  std::string objection_;
  /// What the file says, and when it was written.
  struct NamedProcess {
    FileState file;
    std::int64_t changed_ns = 0;
    std::uint32_t owner = 0;  ///< of the file
    int pid = 0;
    std::uint64_t start_ticks = 0;  ///< of the process that it means; 0: it has not been seen yet
  };
  std::optional<NamedProcess> named_;

  void read_pid_file();
  void look_at_named(const std::vector<ProcessFacts>& processes);
};

}  // namespace hawk
