#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "bpf/probe_points.h"
#include "bpf/targets.h"
#include "userspace/tracer/growing_array.h"
#include "userspace/tracer/index_pool.h"

namespace hawk {

/// The probed points of all targets, in sets that are never changed. A set that its target no longer needs is kept for
/// as long as processes that the target has started have it by their birth.
class ProbePointStore {
 public:
  /// Both: mapped memory of the programs. `targets` are those that there are at any time.
  ProbePointStore(const GrowingArray<hawk_probe_point>& points, const std::span<hawk_target>& targets)
      : points_(points), targets_(targets), pool_(points.size()) {}

  /// Writes a set, and returns its word (hawk_points_word). 0: it is empty, or there is no room for it.
  std::uint64_t add(std::span<const hawk_probe_point> points);
  /// No target has the set as its own any more.
  void retire(std::uint64_t word);

  /// The points of a word.
  std::span<hawk_probe_point> points_of(std::uint64_t word) {
    return points_.first(hawk_points_first(word) + hawk_points_count(word)).subspan(hawk_points_first(word));
  }

 private:
  void reclaim();

  GrowingArray<hawk_probe_point> points_;
  const std::span<hawk_target>& targets_;
  IndexPool pool_;
  std::uint32_t last_number_ = 0;
  std::vector<std::uint64_t> retired_;  ///< the last one behind
};

}  // namespace hawk
