#pragma once

#include <cstdint>
#include <string>

#include "userspace/base/regular_file.h"
#include "userspace/base/unique_fd.h"
#include "userspace/study/confined_symbolizer.h"

namespace hawk {

/// Finds the perf map that a target writes, below its own root: /tmp/perf-PID.map, with its number in its own PID
/// namespace. The file is in a directory in which every user may write: it must be the target's user's, or root's, and
/// no link. What is in it is read by others.
class PerfMapFinder {
 public:
  /// `proc_pid`: see ModuleMap. Its root is held, so that the file is found when the target has ended.
  explicit PerfMapFinder(int proc_pid);

  /// Gives `symbolizer` the map, or that it has grown since the last time.
  void refresh(ConfinedSymbolizer& symbolizer);

 private:
  int proc_pid_;
  UniqueFd root_;
  std::string path_;        ///< as the target sees it
  std::uint64_t user_ = 0;  ///< the target's, as far as is known
  FileIdentity identity_;   ///< of what has been found
  std::uint64_t size_bytes_ = 0;
};

}  // namespace hawk
