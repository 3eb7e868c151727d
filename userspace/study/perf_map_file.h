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
  /// Reads the text that was added since; the whole file if it has become shorter.
  void read_on();
  /// The name for the call that returns to `address`; empty: not known.
  std::vector<SourceFrame> frames(std::uint64_t address) const;

 private:
  UniqueFd file_;
  std::uint64_t read_bytes_ = 0;
  PerfMap map_;
};

}  // namespace hawk
