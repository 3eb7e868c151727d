#include "userspace/tracer/allocator_ranges.h"

#include <algorithm>
#include <iterator>

namespace hawk {
namespace {

bool are_set(const hawk_target& target, const std::vector<AddressRange>& ranges) {
  if (__atomic_load_n(&target.files.allocators_low, __ATOMIC_SEQ_CST) == 0) return false;
  const auto is_same = [](const AddressRange& range, const hawk_range& stored) {
    return range.start == stored.start && range.end == stored.end;
  };
  return target.files.allocator_range_count == ranges.size() &&
         std::equal(ranges.begin(), ranges.end(), std::begin(target.files.allocator_ranges), is_same);
}

}  // namespace

void forget_allocator_ranges(hawk_target& target) {
  __atomic_store_n(&target.files.allocators_low, 0, __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.files.allocator_range_count, 0, __ATOMIC_SEQ_CST);
}

std::uint32_t allocators_mapped(const hawk_target& target) {
  return __atomic_load_n(&target.allocators_mapped, __ATOMIC_SEQ_CST);
}

void set_allocator_ranges(hawk_target& target, const std::vector<AddressRange>& ranges, std::uint32_t mapped) {
  // While they are rewritten a call cannot be distinguished from one that the allocator makes itself, and is counted as
  // hidden.
  if (allocators_mapped(target) != mapped || are_set(target, ranges)) return;
  forget_allocator_ranges(target);
  if (ranges.size() > HAWK_MAX_ALLOCATOR_RANGES || ranges.empty()) return;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    target.files.allocator_ranges[i] = {.start = ranges[i].start, .end = ranges[i].end};
  }
  const auto lower = [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; };
  const auto ends_lower = [](const AddressRange& a, const AddressRange& b) { return a.end < b.end; };
  __atomic_store_n(&target.files.allocator_range_count, static_cast<__u32>(ranges.size()), __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.files.allocators_high, std::max_element(ranges.begin(), ranges.end(), ends_lower)->end,
                   __ATOMIC_SEQ_CST);
  __atomic_store_n(&target.files.allocators_low, std::min_element(ranges.begin(), ranges.end(), lower)->start,
                   __ATOMIC_SEQ_CST);
  if (allocators_mapped(target) != mapped) forget_allocator_ranges(target);
}

}  // namespace hawk
