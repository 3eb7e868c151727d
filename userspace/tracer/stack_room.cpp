#include "userspace/tracer/stack_room.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace hawk {

bool StackRoom::is_half_taken(const KernelMaps& maps, std::uint64_t frames) {
  const std::uint64_t stacks_taken = __atomic_load_n(&maps.state->next_stack, __ATOMIC_ACQUIRE);
  const std::uint64_t frames_taken = __atomic_load_n(&maps.state->next_frame, __ATOMIC_ACQUIRE);
  const std::uint64_t stacks = maps.config.max_stacks - std::min(maps.config.max_stacks, reserved_);
  if (stacks_taken >= reserved_ + stacks / 2 || frames_taken >= frames / 2) return true;
  // Each frame that was stored since has brought one location at most.
  const std::span<const __u64> locations = maps.locations.as<__u64>();
  const std::size_t half = locations.size() / 2;
  if (locations_ + (frames_taken - frames_) < half) return false;
  locations_ = locations.size() - static_cast<std::uint64_t>(std::count(locations.begin(), locations.end(), 0));
  frames_ = frames_taken;
  return locations_ >= half;
}

}  // namespace hawk
