#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/kernel/faults/fault_plan.h"
#include "tests/kernel/harness/trace.h"

namespace hawk {

/// Under which hawktrace may fail.
struct Conditions {
  Way way = Way::kSessionArena;
  const FaultPlan& plan;
  std::vector<std::string> runner = {};  ///< the words of a command that runs hawktrace under limits
  /// Whether that is the end of another program, by this status and these messages: of the runner, or by the kernel.
  std::function<bool(int, const std::string&)> is_end_of_other = [](int, const std::string&) { return false; };
};

/// Runs hawktrace on a target that runs its script. Expects that it ends in time, with one message and a documented
/// status, or with a report that is correct or says that it is not exact; that none of its objects remain in the
/// kernel; and that the target is unharmed. Returns whether there was a report.
bool try_beside_target(const Conditions& conditions);

/// The same with a command that hawktrace starts. Expects besides that the command came to its end, with its own
/// status, or was never started, and that no process is left behind.
bool try_with_command(const Conditions& conditions);

}  // namespace hawk
