#pragma once

#include <cstddef>

namespace hawk {

/// What this process takes, as /proc/self/statm says.
struct OwnMemory {
  std::size_t file_bytes = 0;  ///< of files that are mapped, and in memory
  std::size_t data_bytes = 0;  ///< what counts against RLIMIT_DATA
};

/// All 0 when unknown. The first call opens the file; a process that must open none calls this before.
OwnMemory own_memory();

}  // namespace hawk
