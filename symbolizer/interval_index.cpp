#include "symbolizer/interval_index.h"

#include <algorithm>
#include <limits>

namespace hawk {

void IntervalIndex::add(std::uint64_t low, std::uint64_t high, std::uint32_t value) {
  if (low < high) added_.push_back({low, high, value});
}

void IntervalIndex::seal() {
  std::stable_sort(added_.begin(), added_.end(), [](const Interval& left, const Interval& right) {
    return left.low != right.low ? left.low < right.low : left.high > right.high;
  });
  std::vector<Interval> open;  // around the current position, innermost last
  std::uint64_t position = 0;
  for (const Interval& interval : added_) {
    emit_until(interval.low, open, position);
    open.push_back(interval);
  }
  emit_until(std::numeric_limits<std::uint64_t>::max(), open, position);
  added_ = {};
  segments_.shrink_to_fit();
}

void IntervalIndex::emit_until(std::uint64_t end, std::vector<Interval>& open, std::uint64_t& position) {
  while (!open.empty() && position < end) {
    const Interval& innermost = open.back();
    if (innermost.high <= position) {
      open.pop_back();
      continue;
    }
    const std::uint64_t segment_end = std::min(innermost.high, end);
    segments_.push_back({position, segment_end, innermost.value});
    position = segment_end;
  }
  position = end;
}

std::optional<std::uint32_t> IntervalIndex::find(std::uint64_t address) const {
  const auto after = std::upper_bound(segments_.begin(), segments_.end(), address,
                                      [](std::uint64_t value, const Interval& segment) { return value < segment.low; });
  if (after == segments_.begin()) return std::nullopt;
  const Interval& segment = *std::prev(after);
  if (address >= segment.high) return std::nullopt;
  return segment.value;
}

}  // namespace hawk
