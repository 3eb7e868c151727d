#pragma once

#include <cstdint>
#include <span>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// The memory of a process, as the process itself sees it. Reading never stops the process, and never waits for it: a
/// page that it serves itself (userfaultfd) counts as unreadable. Not thread-safe.
class MemoryReader {
 public:
  /// `proc_pid`: a living thread of the process.
  explicit MemoryReader(int proc_pid);

  /// Fills all of `to`; false when that cannot be read: not mapped, or the process is gone.
  bool read(std::uint64_t address, std::span<std::uint8_t> to);

 private:
  void open();

  UniqueFd directory_;  ///< of the process in /proc; bound to it, not to its number, which another may be given
  UniqueFd file_;
  /// It is not asked for again: with 1,024 processes that have ended, 500 probes each, that takes seconds.
  bool has_ended_ = false;
};

}  // namespace hawk
