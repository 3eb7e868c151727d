#pragma once

#include <cstdint>
#include <functional>
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

/// Of a living process; kNoTarget when it is gone. Since Linux 6.17 the list is read without the lock over the mappings
/// (fs/proc/task_mmu.c): where a thread is replacing a mapping, neither the old nor the new one may be in it.
Result<std::vector<Mapping>> read_mappings(int pid);

/// The same where it is known what was mapped before. If the list does not have it, it has been unmapped, or is being
/// replaced just now: the list is read again after that, and is taken as it is if it remains the same.
Result<std::vector<Mapping>> read_mappings_with(int pid,
                                                const std::function<bool(const std::vector<Mapping>&)>& has_all);

}  // namespace hawk
