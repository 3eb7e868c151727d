#include "userspace/tracer/last_look.h"

#include <algorithm>
#include <utility>

namespace hawk {

LastLook::LastLook(LastLook&& other) noexcept
    : target_(std::exchange(other.target_, nullptr)), store_(other.store_), own_(std::exchange(other.own_, 0)) {}

LastLook::~LastLook() {
  if (target_ == nullptr) return;
  __atomic_store_n(&target_->probe_points, 0, __ATOMIC_SEQ_CST);
  store_.retire(own_);
}

void LastLook::set_files(std::span<const hawk_probe_point> points) {
  std::size_t used = 0;
  for (const hawk_probe_point& point : points) {
    const auto is_its = [&](const hawk_probed_file& file) {
      return file.inode == point.inode && file.device == point.device;
    };
    const std::span<hawk_probed_file> files(target_->probed_files);
    if (point.inode == 0 || std::any_of(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(used), is_its))
      continue;
    if (used == files.size()) return;
    __atomic_store_n(&files[used].device, point.device, __ATOMIC_SEQ_CST);
    __atomic_store_n(&files[used].inode, point.inode, __ATOMIC_SEQ_CST);
    ++used;
  }
}

void LastLook::set_ranges(std::span<const AddressRange> code) {
  for (std::size_t i = 0; i < HAWK_MAX_PROBED_RANGES; ++i) {
    const AddressRange range = i < code.size() ? code[i] : AddressRange{};
    __atomic_store_n(&target_->probed_ranges[i].end, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&target_->probed_ranges[i].start, range.start, __ATOMIC_SEQ_CST);
    __atomic_store_n(&target_->probed_ranges[i].end, range.end, __ATOMIC_SEQ_CST);
  }
}

LastLook::Change LastLook::set(std::span<const hawk_probe_point> points, std::span<const AddressRange> code) {
  set_ranges(code);
  const std::uint64_t added = store_.add(points);
  if (added == 0 && !points.empty()) return {.is_made = false, .seen = take_missing()};
  const std::uint64_t before = std::exchange(own_, added);
  __atomic_store_n(&target_->probe_points, own_, __ATOMIC_SEQ_CST);
  __atomic_store_n(&target_->borrows_points, 0, __ATOMIC_SEQ_CST);
  set_files(points);
  std::vector<Missing> seen = take_missing_of(before);
  store_.retire(before);
  return {.is_made = true, .seen = std::move(seen)};
}

std::vector<LastLook::Missing> LastLook::take_missing() { return take_missing_of(own_); }

std::vector<LastLook::Missing> LastLook::take_missing_of(std::uint64_t word) const {
  std::vector<Missing> missing;
  const std::span<hawk_probe_point> points = store_.points_of(word);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const unsigned seen = __atomic_exchange_n(&points[i].is_missing, 0, __ATOMIC_ACQ_REL);
    if (seen != 0) missing.push_back({.number = i, .is_in_new_code = (seen & HAWK_MISSING_IN_NEW_CODE) != 0});
  }
  return missing;
}

}  // namespace hawk
