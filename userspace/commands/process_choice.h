#pragma once

#include <optional>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/selection/process_query.h"
#include "userspace/selection/process_watch.h"
#include "userspace/traces/chosen_process.h"

namespace hawk {

/// Which processes are meant.
struct ProcessChoice {
  std::vector<ChosenProcess> processes;  ///< at least one
  std::optional<ProcessWatch> watch;     ///< for those that begin later; nullopt: they were given by number
};

/// Finds the processes that `query` means, at least one, and says what they were found by. Those that have ended since
/// are passed over as long as one is left: a service's processes come and go between pidof and us.
Result<ProcessChoice> choose_processes(const ProcessQuery& query);

}  // namespace hawk
