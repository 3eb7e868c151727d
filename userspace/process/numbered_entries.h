#pragma once

#include <vector>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// The names of a directory's entries that are numbers, ascending: of /proc the processes, of /proc/PID/task the
/// threads. None if `directory` is none or cannot be read. One that stays open can be read again.
std::vector<int> numbered_entries(const UniqueFd& directory);

}  // namespace hawk
