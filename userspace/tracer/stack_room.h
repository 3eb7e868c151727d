#pragma once

#include <cstdint>

#include "userspace/tracer/kernel_maps.h"

namespace hawk {

/// The room for stacks. What is taken of it is never given back while the programs are loaded, also when the process
/// has ended whose stacks they were: as a rule no other has its code at the same addresses.
class StackRoom {
 public:
  StackRoom() = default;
  /// `reserved`: numbers that no process has taken.
  explicit StackRoom(std::uint32_t reserved) : reserved_(reserved) {}

  /// Whether half of the numbers, the frames or the locations is taken. `frames`: how many there may be. To be called
  /// as often as one likes: the table of locations, which nobody counts, is looked through a few times in all.
  bool is_half_taken(const KernelMaps& maps, std::uint64_t frames);

 private:
  std::uint32_t reserved_ = 0;
  std::uint64_t locations_ = 0;  ///< that were taken when the table was looked through
  std::uint64_t frames_ = 0;     ///< the same
};

}  // namespace hawk
