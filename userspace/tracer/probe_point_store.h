#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bpf/probe_points.h"
#include "userspace/tracer/index_pool.h"

namespace hawk {

/// The probed points of all targets, in sets that are never changed. A set that its target no longer needs is kept for
/// a while: processes that the target has started may have borrowed it, until they are taken over.
class ProbePointStore {
 public:
  /// Mapped memory of the programs, HAWK_MAX_PROBE_POINTS of them.
  explicit ProbePointStore(std::span<hawk_probe_point> points) : points_(points), pool_(points.size()) {}

  struct Set {
    std::uint64_t word = 0;  ///< hawk_points_word; 0: none
    PooledArea area;
  };
  /// Writes a set. Its word is 0 if there is no room for it, or it is empty.
  Set add(std::span<const hawk_probe_point> points);
  /// The target has another set.
  void retire(Set set);
  /// To be called before births are taken over: sets that had been retired before the births that were taken over last
  /// are gone.
  void begin_births();

  /// The points of a word.
  std::span<hawk_probe_point> points_of(std::uint64_t word) const {
    return points_.subspan(hawk_points_first(word), hawk_points_count(word));
  }

 private:
  std::span<hawk_probe_point> points_;
  IndexPool pool_;
  std::uint32_t last_number_ = 0;
  std::array<std::vector<PooledArea>, 2> retired_;  ///< since the last births were taken over, and before those
};

}  // namespace hawk
