#include "userspace/tracer/moving_memory.h"

#include <algorithm>
#include <string>

#include "userspace/base/process_file.h"

namespace hawk {

bool may_move_memory(std::string_view swaps, std::string_view numa_balancing) {
  return std::count(swaps.begin(), swaps.end(), '\n') > 1 ||
         numa_balancing.find_first_not_of("0\n") != std::string_view::npos;
}

bool may_move_memory() {
  const Result<std::string> swaps = read_whole_file("/proc/swaps");
  // There is no such file where the kernel was built without.
  const Result<std::string> balancing = read_whole_file("/proc/sys/kernel/numa_balancing");
  return !swaps || may_move_memory(*swaps, balancing ? *balancing : std::string());
}

}  // namespace hawk
