#pragma once

#include <vector>

#include "userspace/base/result.h"
#include "userspace/process/process.h"
#include "userspace/selection/process_query.h"

namespace hawk {

/// A process that is meant, and a hold on it by something better than its number.
struct ChosenProcess {
  int pid = 0;
  ProcessHandle handle;
};

/// Finds the processes that `query` means, at least one, and says what they were found by. Those that have ended since
/// are passed over as long as one is left: a service's processes come and go between pidof and us.
Result<std::vector<ChosenProcess>> choose_processes(const ProcessQuery& query);

}  // namespace hawk
