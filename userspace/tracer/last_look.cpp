#include "userspace/tracer/last_look.h"

#include <algorithm>
#include <utility>

namespace hawk {

void LastLook::set(std::span<const hawk_probe_point> points, std::span<const AddressRange> code) {
  // None while they are being written: a look that comes now finds none.
  __atomic_store_n(&state_.probe_point_count, 0, __ATOMIC_SEQ_CST);
  const std::size_t count = std::min(points.size(), points_.size());
  std::copy_n(points.begin(), count, points_.begin());
  __atomic_store_n(&state_.probe_point_count, static_cast<__u32>(count), __ATOMIC_SEQ_CST);
  for (std::size_t i = 0; i < HAWK_MAX_PROBED_RANGES; ++i) {
    const AddressRange range = i < code.size() ? code[i] : AddressRange{};
    __atomic_store_n(&state_.probed_ranges[i].end, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state_.probed_ranges[i].start, range.start, __ATOMIC_SEQ_CST);
    __atomic_store_n(&state_.probed_ranges[i].end, range.end, __ATOMIC_SEQ_CST);
  }
}

std::vector<std::size_t> LastLook::take_missing() {
  std::vector<std::size_t> missing;
  const __u32 count = __atomic_load_n(&state_.probe_point_count, __ATOMIC_ACQUIRE);
  for (std::size_t i = 0; i < count; ++i) {
    if (__atomic_exchange_n(&points_[i].is_missing, 0, __ATOMIC_ACQ_REL) != 0) missing.push_back(i);
  }
  return missing;
}

}  // namespace hawk
