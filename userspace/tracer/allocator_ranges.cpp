#include "userspace/tracer/allocator_ranges.h"

#include <algorithm>

namespace hawk {

void forget_allocator_ranges(hawk_target& target) {
  __atomic_store_n(&target.allocators_low, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.allocator_range_count, 0, __ATOMIC_SEQ_CST);
}

void set_allocator_ranges(hawk_target& target, const std::vector<AddressRange>& ranges) {
  forget_allocator_ranges(target);
  if (ranges.size() > HAWK_MAX_ALLOCATOR_RANGES || ranges.empty()) return;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    target.allocator_ranges[i] = {.start = ranges[i].start, .end = ranges[i].end};
  }
  const auto lower = [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; };
  const auto ends_lower = [](const AddressRange& a, const AddressRange& b) { return a.end < b.end; };
  __atomic_store_n(&target.allocator_range_count, static_cast<__u32>(ranges.size()), __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.allocators_high, std::max_element(ranges.begin(), ranges.end(), ends_lower)->end,
                   __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.allocators_low, std::min_element(ranges.begin(), ranges.end(), lower)->start,
                   __ATOMIC_SEQ_CST);
}

}  // namespace hawk
