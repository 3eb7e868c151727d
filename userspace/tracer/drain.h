#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "userspace/tables/counters.h"
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
  /// Before both, what has been freed is read once more, for a bound from above (Drained::freed_bytes_before).
  ///
  /// `is_known`: by target, whether there is someone who takes what is given of it; of others nothing is.
  std::vector<Drained> read(
      const KernelMaps& maps, const std::function<bool(std::uint32_t)>& is_known = [](std::uint32_t) { return true; });
  /// The memory of counters that an earlier drain has read for this target: without it, each drain would take the
  /// kernel's page faults for them.
  void give_back(std::uint32_t target, std::vector<StackCounters> counters);
  /// The stacks of these programs count from zero again, and their frames will be given again: others will run under
  /// their numbers. Nothing counts on them now.
  void count_from_zero(const KernelMaps& maps, const std::set<std::uint32_t>& programs);

 private:
  const std::vector<std::uint64_t>& freed_before(const KernelMaps& maps);
  const std::vector<Counters>& sums_of(const KernelMaps& maps);
  std::vector<Drained> begin_drained(const KernelMaps& maps, std::size_t numbers);

  /// By stack number: the program that its frames have been given out for; 0: for none. Which is whose never changes.
  std::vector<std::uint32_t> given_;
  std::vector<Counters> before_;  ///< the same: what was counted for programs before
  // Of the last drain. Their memory is kept: malloc would give it back to the kernel each time, and a drain would spend
  // a third of its time in page faults.
  std::vector<std::uint64_t> freed_;
  std::vector<Counters> sums_;
  std::vector<std::vector<StackCounters>> spare_;  ///< by target: what has been given back, empty
};

/// The frames of a stack that is known to user space as `id`.
NewStack read_stack(const KernelMaps& maps, std::uint32_t number, StackId id);

}  // namespace hawk
