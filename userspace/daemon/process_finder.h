#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/daemon/process_table.h"
#include "userspace/daemon/target_state.h"
#include "userspace/daemon/target_tracing.h"

namespace hawk {

/// Finds the processes that targets mean, as they begin. That they have ended is announced by the kernel.
class ProcessFinder {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Both must outlive this.
  ProcessFinder(EventLoop& loop, Targets& targets) : loop_(loop), targets_(targets) {}

  /// To be called often: looks when a process has begun, and periodically. `begun`: Engine::processes_begun(), if there
  /// is an engine.
  void look_if_due(std::optional<std::uint32_t> begun, Time now);
  /// Looks at all processes now.
  void look(Time now) { look(true, now); }

 private:
  void look(bool all, Time now);
  bool wants_traces(Time now) const;
  bool has_open(Time now) const;
  void offer(const std::vector<ProcessFacts>& processes);
  void offer(const ProcessFacts& process);
  static void resolve(TargetState& target, const std::vector<ProcessFacts>& processes,
                      const std::vector<CgroupMount>& mounts, bool all);

  EventLoop& loop_;
  Targets& targets_;
  ProcessTable table_;
  std::vector<CgroupMount> mounts_;
  std::optional<std::uint32_t> begun_;
  std::string last_pid_;  ///< of the machine, as /proc/loadavg has it
  Time looked_at_all_{};
  Time next_look_{};  ///< not before
};

}  // namespace hawk
