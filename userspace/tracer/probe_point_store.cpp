#include "userspace/tracer/probe_point_store.h"

#include <cstddef>
#include <optional>
#include <set>

namespace hawk {

std::uint64_t ProbePointStore::add(std::span<const hawk_probe_point> points) {
  if (points.empty()) return 0;
  std::optional<std::size_t> first = pool_.take(points.size());
  if (!first) {
    reclaim();
    first = pool_.take(points.size());
  }
  if (!first) return 0;
  if (++last_number_ == 0) ++last_number_;
  const std::uint64_t word =
      hawk_points_word(last_number_, static_cast<__u32>(*first), static_cast<__u32>(points.size()));
  const std::span<hawk_probe_point> to = points_of(word);
  // A program may be looking at what was there before.
  for (hawk_probe_point& point : to) __atomic_store_n(&point.set, 0, __ATOMIC_SEQ_CST);
  for (std::size_t i = 0; i < points.size(); ++i) {
    to[i] = points[i];
    __atomic_store_n(&to[i].set, last_number_, __ATOMIC_SEQ_CST);
  }
  return word;
}

void ProbePointStore::retire(std::uint64_t word) {
  if (word != 0) retired_.push_back(word);
}

/// Those that were retired last may just be looked at, or be passed on to a process that is being made.
void ProbePointStore::reclaim() {
  constexpr std::size_t kLast = 8;
  if (retired_.size() <= kLast) return;
  std::set<std::uint64_t> used(retired_.end() - kLast, retired_.end());
  for (const hawk_target& target : targets_) used.insert(__atomic_load_n(&target.probe_points, __ATOMIC_ACQUIRE));
  std::erase_if(retired_, [&](std::uint64_t word) {
    if (used.contains(word)) return false;
    pool_.give_back(hawk_points_first(word), hawk_points_count(word));
    return true;
  });
}

}  // namespace hawk
