#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// One line of /proc/PID/maps (proc(5)).
struct Mapping {
  std::uint64_t start = 0;  ///< first address
  std::uint64_t end = 0;    ///< one past the last
  std::uint64_t file_offset = 0;
  std::uint64_t device = 0;  ///< major << 32 | minor
  std::uint64_t inode = 0;   ///< 0: no file
  bool executable = false;
  bool shared = false;   ///< what is written is written to the file, or seen by others
  bool deleted = false;  ///< the path no longer names this file
  std::string path;      ///< without " (deleted)"; "[vdso]", "[heap]", "" as the kernel prints them
  bool operator==(const Mapping&) const = default;
};

/// Malformed lines are skipped: the text comes from the kernel, and a damaged line must not end a trace.
std::vector<Mapping> parse_mappings(std::string_view maps_text);

/// Of a living process; kNoTarget when it is gone.
Result<std::vector<Mapping>> read_mappings(int pid);

}  // namespace hawk
