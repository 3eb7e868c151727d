#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "userspace/attach/trace_group.h"
#include "userspace/base/result.h"
#include "userspace/commands/process_choice.h"
#include "userspace/commands/trace_options.h"
#include "userspace/launch/launch.h"

namespace hawk {

/// The processes that are traced, which may become more while tracing: those that begin to be what was chosen.
class TracedProcesses {
 public:
  /// Every probe in place, nothing counted yet. `command`: the child to trace, which still waits for its start; nullptr
  /// to trace those that `options` choose. Of several those that cannot be traced are left out, as long as one is left:
  /// those of a service come and go, and not each of them has a heap of its own.
  static Result<std::unique_ptr<TracedProcesses>> attach(const TraceOptions& options, const LaunchedCommand* command);

  TraceGroup& group() { return group_; }
  const Traces& traces() const { return group_.traces(); }

  /// Whether others may join them.
  bool picks_up() const { return watch_.has_value(); }
  /// Attaches to processes that have begun to match, and lets them count. To be called often: where no process has
  /// begun since the last time, it does nothing as a rule.
  std::vector<ProcessTrace*> pick_up();

 private:
  explicit TracedProcesses(const TraceConfig& config) : group_(config) {}
  Result<void> attach_to_all(const std::vector<ChosenProcess>& processes);
  std::vector<ProcessFacts> look();
  ProcessTrace* pick_up(const ProcRoot& proc, const ProcessFacts& process);

  TraceGroup group_;
  std::optional<ProcessWatch> watch_;
  std::uint32_t begun_ = 0;  ///< Engine::processes_begun() before the last look
  std::chrono::steady_clock::time_point looked_at_{};
  std::chrono::steady_clock::time_point next_look_{};  ///< not before
};

}  // namespace hawk
