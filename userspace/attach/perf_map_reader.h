#pragma once

#include <cstdint>
#include <string>

#include "symbolizer/perf_map.h"
#include "userspace/base/regular_file.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Reads the perf map that a target writes, below its own root: /tmp/perf-PID.map, with its number in its own PID
/// namespace. The file is in a directory in which every user may write: it must be the target's user's, or root's, and
/// no link.
class PerfMapReader {
 public:
  /// `proc_pid`: see ModuleMap. Its root is held, so that the file is found when the target has ended.
  explicit PerfMapReader(int proc_pid);

  /// Reads into `map` what has been written since the last time. Cheap when that is nothing.
  void refresh(PerfMap& map);

 private:
  void open_again(PerfMap& map);

  int proc_pid_;
  UniqueFd root_;
  std::string path_;        ///< as the target sees it
  std::uint64_t user_ = 0;  ///< the target's, as far as is known
  UniqueFd file_;
  FileIdentity identity_;
  std::uint64_t read_bytes_ = 0;
};

}  // namespace hawk
