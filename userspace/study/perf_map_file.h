#pragma once

#include <cstdint>
#include <vector>

#include "symbolizer/perf_map.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A perf map, read as it grows.
class PerfMapFile {
 public:
  /// Reads `file`, in place of the one before.
  void read(UniqueFd file);
  /// Reads what has been written since. Of a file that is shorter by now, all.
  void read_on();
  /// What is known of the call that returns to `address`; empty: nothing.
  std::vector<SourceFrame> frames(std::uint64_t address) const;

 private:
  UniqueFd file_;
  std::uint64_t read_bytes_ = 0;
  PerfMap map_;
};

}  // namespace hawk
