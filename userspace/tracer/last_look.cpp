#include "userspace/tracer/last_look.h"

#include <algorithm>
#include <utility>

namespace hawk {

void LastLook::set_files(std::span<const hawk_probe_point> points) {
  std::size_t used = 0;
  for (const hawk_probe_point& point : points) {
    const auto is_its = [&](const hawk_probed_file& file) {
      return file.inode == point.inode && file.device == point.device;
    };
    const std::span<hawk_probed_file> files(target_.probed_files);
    if (point.inode == 0 || std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(used), is_its))
      continue;
    if (used == files.size()) return;
    __atomic_store_n(&files[used].device, point.device, __ATOMIC_SEQ_CST);
    __atomic_store_n(&files[used].inode, point.inode, __ATOMIC_SEQ_CST);
    ++used;
  }
}

std::vector<LastLook::Missing> LastLook::set(std::span<const hawk_probe_point> points,
                                             std::span<const AddressRange> code) {
  // None while they are being written: a check at this moment finds none.
  const __u32 before = __atomic_exchange_n(&target_.probe_point_count, 0, __ATOMIC_SEQ_CST);
  std::vector<Missing> missing = take_missing_of(before);
  const std::size_t count = area_.require(points.size()) ? points.size() : 0;
  std::copy_n(points.begin(), count, points_.begin() + static_cast<std::ptrdiff_t>(area_.first()));
  __atomic_store_n(&target_.first_probe_point, static_cast<__u32>(area_.first()), __ATOMIC_SEQ_CST);
  __atomic_store_n(&target_.probe_point_count, static_cast<__u32>(count), __ATOMIC_SEQ_CST);
  set_files(points.first(count));
  for (std::size_t i = 0; i < HAWK_MAX_PROBED_RANGES; ++i) {
    const AddressRange range = i < code.size() ? code[i] : AddressRange{};
    __atomic_store_n(&target_.probed_ranges[i].end, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&target_.probed_ranges[i].start, range.start, __ATOMIC_SEQ_CST);
    __atomic_store_n(&target_.probed_ranges[i].end, range.end, __ATOMIC_SEQ_CST);
  }
  return missing;
}

std::vector<LastLook::Missing> LastLook::take_missing() {
  return take_missing_of(__atomic_load_n(&target_.probe_point_count, __ATOMIC_ACQUIRE));
}

std::vector<LastLook::Missing> LastLook::take_missing_of(std::uint32_t count) {
  std::vector<Missing> missing;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned seen = __atomic_exchange_n(&points_[area_.first() + i].is_missing, 0, __ATOMIC_ACQ_REL);
    if (seen != 0) missing.push_back({.number = i, .is_in_new_code = (seen & HAWK_MISSING_IN_NEW_CODE) != 0});
  }
  return missing;
}

}  // namespace hawk
