#include "userspace/tracer/probe_point_store.h"

#include <algorithm>
#include <utility>

namespace hawk {

ProbePointStore::Set ProbePointStore::add(std::span<const hawk_probe_point> points) {
  Set set = {.word = 0, .area = PooledArea(pool_)};
  if (points.empty() || !set.area.require(points.size())) return set;
  if (++last_number_ == 0) ++last_number_;
  set.word = hawk_points_word(last_number_, static_cast<__u32>(set.area.first()), static_cast<__u32>(points.size()));
  const std::span<hawk_probe_point> to = points_of(set.word);
  // A program may be looking at what was there before.
  for (hawk_probe_point& point : to) __atomic_store_n(&point.set, 0, __ATOMIC_SEQ_CST);
  for (std::size_t i = 0; i < points.size(); ++i) {
    to[i] = points[i];
    __atomic_store_n(&to[i].set, last_number_, __ATOMIC_SEQ_CST);
  }
  return set;
}

void ProbePointStore::retire(Set set) {
  if (set.word != 0) retired_[0].push_back(std::move(set.area));
}

void ProbePointStore::begin_births() { retired_[1] = std::exchange(retired_[0], {}); }

}  // namespace hawk
