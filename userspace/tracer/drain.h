#pragma once

#include <vector>

#include "userspace/tables/drained.h"
#include "userspace/tracer/kernel_maps.h"

namespace hawk {

/// Reads the kernel's maps. Their layouts stop here: what comes out are plain values.
class Drain {
 public:
  /// For each target, in the order of hawk_target: counters of every stack of the program that it runs, and the frames
  /// of those that no drain of this object has given before.
  ///
  /// While programs run, each number is exact for some instant during the call. They only grow, and all of what was
  /// allocated is read before any of what was freed: between the two there is an instant at which no stack, and no sum
  /// of stacks, had less live than allocated - freed says, which can even be negative. At rest they are exact.
  std::vector<Drained> read(const KernelMaps& maps);

 private:
  std::vector<bool> given_;  ///< by stack number: its frames have been given out
};

}  // namespace hawk
