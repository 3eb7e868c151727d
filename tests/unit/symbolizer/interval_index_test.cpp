#include "symbolizer/interval_index.h"

#include <gtest/gtest.h>

#include <random>

namespace hawk {
namespace {

struct Interval {
  std::uint64_t low;
  std::uint64_t high;
};

IntervalIndex index_of(const std::vector<Interval>& intervals) {
  IntervalIndex index;
  for (std::uint32_t i = 0; i < intervals.size(); ++i) index.add(intervals[i].low, intervals[i].high, i);
  index.seal();
  return index;
}

/// The definition, without any cleverness.
std::optional<std::uint32_t> innermost(const std::vector<Interval>& intervals, std::uint64_t address) {
  std::optional<std::uint32_t> best;
  for (std::uint32_t i = 0; i < intervals.size(); ++i) {
    const Interval& one = intervals[i];
    if (address < one.low || address >= one.high) continue;
    if (!best || one.low > intervals[*best].low ||
        (one.low == intervals[*best].low && one.high <= intervals[*best].high)) {
      best = i;
    }
  }
  return best;
}

TEST(interval_index, finds_the_innermost_of_nested_intervals) {
  const IntervalIndex index = index_of({{10, 90}, {20, 40}, {30, 50}});
  EXPECT_EQ(index.find(9), std::nullopt);
  EXPECT_EQ(index.find(10), 0u);
  EXPECT_EQ(index.find(20), 1u);
  EXPECT_EQ(index.find(30), 2u);
  EXPECT_EQ(index.find(49), 2u);
  EXPECT_EQ(index.find(50), 0u);
  EXPECT_EQ(index.find(90), std::nullopt);
}

TEST(interval_index, prefers_the_last_of_equal_intervals) { EXPECT_EQ(index_of({{1, 5}, {1, 5}}).find(1), 1u); }

TEST(interval_index, ignores_empty_and_inverted_intervals) {
  const IntervalIndex index = index_of({{5, 5}, {UINT64_MAX, 3}, {9, 2}});
  EXPECT_TRUE(index.empty());
  EXPECT_EQ(index.find(5), std::nullopt);
}

TEST(interval_index, agrees_with_its_definition_on_random_intervals) {
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    std::vector<Interval> intervals;
    for (unsigned i = 0; i < 1 + random() % 20; ++i) {
      const std::uint64_t low = random() % 60;
      intervals.push_back({low, low + 1 + random() % 30});
    }
    const IntervalIndex index = index_of(intervals);
    for (std::uint64_t address = 0; address < 100; ++address) {
      // Where the intervals cross instead of nesting, one that starts later but has ended gives way; so does the
      // definition.
      ASSERT_EQ(index.find(address), innermost(intervals, address)) << "round " << round << " address " << address;
    }
  }
}

}  // namespace
}  // namespace hawk
