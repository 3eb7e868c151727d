#include "userspace/tables/age_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace hawk {
namespace {

constexpr std::uint64_t kNowMs = 90'000'000;
constexpr std::uint64_t kMarkMs = 12'345'678;

struct Block {
  std::uint32_t stack = 0;
  std::uint64_t born_ms = 0;
};

/// Of all ages from 0 on, some as old as the trace; by one of 40 stacks each.
std::vector<Block> blocks_of_all_ages(std::size_t count) {
  std::mt19937_64 random(16);
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t age_ms = random() % (std::uint64_t{1} << (random() % 27));
    blocks.push_back({static_cast<std::uint32_t>(random() % 40), kNowMs - std::min(age_ms, kNowMs)});
  }
  blocks.push_back({0, kMarkMs - 1});
  blocks.push_back({0, kMarkMs});
  return blocks;
}

AgeSums sums_of(const std::vector<Block>& blocks, const AgeWindow& window, std::size_t most) {
  std::vector<std::uint64_t> cuts = window.cuts_ms(kNowMs);
  cuts.push_back(kMarkMs);
  AgeSums sums(kNowMs, cuts, most);
  for (const Block& block : blocks) sums.add(StackId{block.stack}, block.born_ms, 16);
  return sums;
}

/// How many blocks are of such births.
std::uint64_t count_if(const AgeSums& sums, const std::function<bool(std::uint64_t born_ms)>& is_meant) {
  std::uint64_t count = 0;
  for (const AgedBlocks& sum : sums.sums()) count += is_meant(sum.born_ms) ? sum.count : 0;
  return count;
}

TEST(AgeSums, AreExactWhileTheyAreFew) {
  const std::vector<Block> blocks = blocks_of_all_ages(3000);
  const AgeSums sums = sums_of(blocks, {}, AgeSums::kMost);
  EXPECT_EQ(sums.age_bits(), LiveAges::kExactAges);
  for (const Block& block : blocks) {
    EXPECT_TRUE(std::any_of(sums.sums().begin(), sums.sums().end(), [&](const AgedBlocks& sum) {
      return sum.stack == StackId{block.stack} && sum.born_ms == block.born_ms && sum.bytes == 16 * sum.count;
    }));
  }
}

TEST(AgeSums, KnowOldBlocksLessPreciselyIfTheyAreMany) {
  constexpr std::size_t kMost = 4000;
  const std::vector<Block> blocks = blocks_of_all_ages(50'000);
  const AgeWindow window = {.min_age_ms = 1'234'567, .max_age_ms = 7'654'321};
  const AgeSums sums = sums_of(blocks, window, kMost);
  EXPECT_LE(sums.sums().size(), kMost);
  ASSERT_LT(sums.age_bits(), 10u);
  const AgeSums exact = sums_of(blocks, window, AgeSums::kMost);
  const std::uint64_t all = count_if(exact, [](std::uint64_t) { return true; });
  EXPECT_EQ(count_if(sums, [](std::uint64_t) { return true; }), all);
  // What reports ask for is as exact as it was: windows, generations, ages in powers of two.
  const LiveAges ages = {.now_ms = kNowMs, .marks_ms = {kMarkMs}};
  const auto same = [&](const std::function<bool(std::uint64_t)>& is_meant) {
    EXPECT_EQ(count_if(sums, is_meant), count_if(exact, is_meant));
  };
  same([&](std::uint64_t born_ms) { return window.has(ages, {.born_ms = born_ms}); });
  same([&](std::uint64_t born_ms) { return ages.generation_of(born_ms) == 1; });
  for (std::uint64_t bits = 0; bits < 27; ++bits) {
    same([&](std::uint64_t born_ms) { return std::bit_width(kNowMs - born_ms) == bits; });
  }
  // The oldest of an octave may be older by one part.
  const std::uint64_t part = std::uint64_t{1} << (sums.age_bits() - 1);
  for (const std::uint64_t age_ms : {std::uint64_t{1000}, std::uint64_t{70'000}, std::uint64_t{3'000'000}}) {
    const auto at_least = [](std::uint64_t least) {
      return [least](std::uint64_t born_ms) { return kNowMs - born_ms >= least; };
    };
    EXPECT_GE(count_if(sums, at_least(age_ms)), count_if(exact, at_least(age_ms)));
    EXPECT_LE(count_if(sums, at_least(age_ms)), count_if(exact, at_least(age_ms - age_ms / part - 1)));
  }
}

TEST(AgeSums, AreNeverCoarserThanPowersOfTwo) {
  const std::vector<Block> blocks = blocks_of_all_ages(5000);
  const AgeSums sums = sums_of(blocks, {}, 1);
  EXPECT_EQ(sums.age_bits(), 1u);
  EXPECT_LE(sums.sums().size(), 40u * 29);
}

}  // namespace
}  // namespace hawk
