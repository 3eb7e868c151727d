#include "userspace/tables/live_ages.h"

#include <gtest/gtest.h>

#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {
namespace {

AgedBlocks aged(std::uint32_t stack, std::uint64_t born_ms, std::uint64_t bytes, std::uint64_t count) {
  return {.stack = StackId{stack}, .target = {}, .born_ms = born_ms, .bytes = bytes, .count = count};
}

TEST(LiveAges, AMarkBeginsAGeneration) {
  const LiveAges ages = {.now_ms = 100, .marks_ms = {10, 20, 21}};
  EXPECT_EQ(ages.generation_of(0), 0u);
  EXPECT_EQ(ages.generation_of(9), 0u);
  EXPECT_EQ(ages.generation_of(10), 1u);
  EXPECT_EQ(ages.generation_of(19), 1u);
  EXPECT_EQ(ages.generation_of(20), 2u);
  EXPECT_EQ(ages.generation_of(21), 3u);
  EXPECT_EQ(ages.generation_of(1000), 3u);
}

TEST(LiveAges, AWindowHasItsEnds) {
  const LiveAges ages = {.now_ms = 100, .marks_ms = {60}};
  const auto has = [&](const AgeWindow& window, std::uint64_t born_ms) {
    return window.has(ages, aged(1, born_ms, 1, 1));
  };
  EXPECT_TRUE(has({}, 5));
  EXPECT_TRUE(has({.min_age_ms = 40}, 60));
  EXPECT_FALSE(has({.min_age_ms = 40}, 61));
  EXPECT_TRUE(has({.max_age_ms = 40}, 60));
  EXPECT_FALSE(has({.max_age_ms = 40}, 59));
  EXPECT_TRUE(has({.generation = 0}, 59));
  EXPECT_FALSE(has({.generation = 0}, 60));
  EXPECT_TRUE(has({.min_age_ms = 10, .max_age_ms = 40, .generation = 1}, 90));
  EXPECT_FALSE(has({.min_age_ms = 10, .max_age_ms = 40, .generation = 1}, 91));
  EXPECT_EQ(ages.age_ms(aged(1, 101, 1, 1)), 0u) << "born after the table began to be read";
}

std::vector<StackRecord> stacks(std::initializer_list<std::pair<std::uint32_t, Counters>> list) {
  std::vector<StackRecord> stacks;
  for (const auto& [id, counters] : list) stacks.push_back({.id = StackId{id}, .counters = counters, .frames = {}});
  return stacks;
}

TEST(LiveAges, NoStackHasMoreThanItsCountersSay) {
  LiveAges ages = {
      .now_ms = 9,
      .blocks = {aged(1, 0, 100, 2), aged(1, 5, 50, 1), aged(1, 7, 60, 3), aged(3, 2, 8, 8), aged(4, 1, 5, 1)}};
  bound_ages(ages, stacks({{1, {220, 10, 100, 6}}, {2, {1, 1, 0, 0}}, {3, {8, 9, 0, 0}}}));
  // The youngest go first, and blocks of stacks that are not known.
  EXPECT_EQ(ages.blocks,
            (std::vector<AgedBlocks>{aged(1, 0, 100, 2), aged(1, 5, 20, 1), aged(1, 7, 0, 1), aged(3, 2, 8, 8)}));
}

TEST(LiveAges, SumsBeyondAllNumbersAreBoundToo) {
  LiveAges ages = {.now_ms = 9, .blocks = {aged(1, 0, ~0ULL, ~0ULL), aged(1, 5, ~0ULL, ~0ULL), aged(1, 6, 7, 7)}};
  bound_ages(ages, stacks({{1, {100, 10, 0, 0}}}));
  EXPECT_EQ(ages.blocks, (std::vector<AgedBlocks>{aged(1, 0, 100, 10)}));
}

}  // namespace
}  // namespace hawk
