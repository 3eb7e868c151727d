#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace hawk {

/// Finds, for an address, the innermost of many intervals that may nest, overlap or be equal.
///
///     added:    [10,90)→A  [20,40)→B  [30,50)→C         sealed:  10 A 20 B 30 C 50 A 90
///
/// Innermost is the interval that starts last; of those the shortest; of equal ones the one added last. Intervals are
/// cut into disjoint segments once, so that a lookup is one binary search.
class IntervalIndex {
 public:
  /// Adds [low, high). Empty and inverted intervals (a linker's tombstones for discarded code) are ignored.
  void add(std::uint64_t low, std::uint64_t high, std::uint32_t value);
  /// To be called once, after the last add() and before the first find().
  void seal();
  /// The value of the innermost interval around `address`.
  std::optional<std::uint32_t> find(std::uint64_t address) const;
  bool empty() const { return segments_.empty() && added_.empty(); }
  /// Intervals added and not yet sealed.
  std::size_t added_count() const { return added_.size(); }
  std::size_t memory_bytes() const { return (added_.capacity() + segments_.capacity()) * sizeof(Interval); }

 private:
  struct Interval {
    std::uint64_t low;
    std::uint64_t high;
    std::uint32_t value;
  };
  void emit_until(std::uint64_t end, std::vector<Interval>& open, std::uint64_t& position);

  std::vector<Interval> added_;
  std::vector<Interval> segments_;  // disjoint, ascending
};

}  // namespace hawk
