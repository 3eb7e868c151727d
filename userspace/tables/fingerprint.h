#pragma once

#include <cstdint>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Numbers of the stacks of a snapshot that are the same in every run of the same programs, wherever their files are
/// mapped: made of the build id and the offset of each frame (of a file without build id its path, of code in no file
/// only that it is such).
class Fingerprints {
 public:
  /// `snapshot` need not outlive this.
  explicit Fingerprints(const Snapshot& snapshot);

  /// Two stacks have the same one if their frames are the same; others by chance, with 64 bits. 0: no stack was
  /// recorded.
  std::uint64_t of(const StackRecord& stack) const;

 private:
  std::vector<std::uint64_t> locations_;  ///< by LocationId
};

}  // namespace hawk
