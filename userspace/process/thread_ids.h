#pragma once

#include <string>
#include <vector>

namespace hawk {

/// The threads that a process has now, ascending; none when it is gone. `directory`: "/proc/PID".
std::vector<int> thread_ids(const std::string& directory);

}  // namespace hawk
