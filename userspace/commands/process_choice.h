#pragma once

#include "userspace/base/result.h"
#include "userspace/process/process.h"
#include "userspace/selection/process_query.h"

namespace hawk {

/// The process that is meant, and a hold on it by something better than its number.
struct ChosenProcess {
  int pid = 0;
  ProcessHandle handle;
};

/// Finds the one process that `query` means, and says what it was found by. Several are refused with a list of them,
/// the largest first: one can be traced at a time. Of numbers, those that are of no process any more are passed over as
/// long as one is left: a service's processes come and go between pidof and us.
Result<ChosenProcess> choose_process(const ProcessQuery& query);

}  // namespace hawk
