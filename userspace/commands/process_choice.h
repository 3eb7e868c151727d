#pragma once

#include <optional>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/process/process.h"
#include "userspace/selection/process_query.h"
#include "userspace/selection/process_watch.h"

namespace hawk {

/// A process that is meant, and a hold on it by something better than its number.
struct ChosenProcess {
  int pid = 0;
  ProcessHandle handle;
};

/// nullopt: it has ended since the facts were read.
std::optional<ChosenProcess> hold(const ProcRoot& proc, const ProcessFacts& process);

/// Which processes are meant.
struct ProcessChoice {
  std::vector<ChosenProcess> processes;  ///< at least one
  std::optional<ProcessWatch> watch;     ///< for those that begin later; nullopt: they were given by number
};

/// Finds the processes that `query` means, at least one, and says what they were found by. Those that have ended since
/// are passed over as long as one is left: a service's processes come and go between pidof and us.
Result<ProcessChoice> choose_processes(const ProcessQuery& query);

}  // namespace hawk
