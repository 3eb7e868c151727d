// How a block becomes fourteen bytes and comes back, and which buckets its address may be in.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "bpf/clock.h"
#include "bpf/live/bucket.h"
#include "bpf/live/geometry.h"

namespace hawk {
namespace {

constexpr __u32 kMostStack = HAWK_SLOT_STACK_MASK;
constexpr __u64 kMostSize = HAWK_SLOT_SIZE_MASK;

hawk_block block_of(__u64 size_bytes, __u32 stack, __u32 born = 0) {
  return {.size_bytes = size_bytes, .stack = stack, .program = 0, .born = born};
}

void expect_round_trip(__u64 address, const hawk_block& block) {
  ASSERT_TRUE(hawk_slot_fits(address, &block)) << address;
  const hawk_slot slot = hawk_slot_pack(address, &block);
  EXPECT_NE(slot.low, 0U) << "0 is a free slot";
  EXPECT_EQ(hawk_slot_address(slot.low, slot.high_and_stack), address);
  EXPECT_EQ(slot.size_bytes, block.size_bytes);
  EXPECT_EQ(slot.high_and_stack & HAWK_SLOT_STACK_MASK, block.stack);
  EXPECT_EQ(slot.born, block.born);
}

TEST(LiveBucket, HoldsEveryBitOfABlock) {
  for (int bit = 3; bit < 35; ++bit) {
    expect_round_trip(1ULL << bit, block_of(0, 0));
    expect_round_trip(1ULL << bit | 0x7ff800000000, block_of(kMostSize, kMostStack, HAWK_STAMP_MOST));
  }
  for (int bit = 35; bit < 47; ++bit) expect_round_trip(1ULL << bit | 8, block_of(1, kMostStack));
  for (int bit = 0; bit < HAWK_SLOT_SIZE_BITS; ++bit) expect_round_trip(0x7f0000000010, block_of(1ULL << bit, 4));
  for (int bit = 0; bit < HAWK_STAMP_BITS; ++bit) expect_round_trip(0x7f0000000010, block_of(16, 4, 1U << bit));
  for (int bit = 0; bit < HAWK_SLOT_STACK_BITS; ++bit) expect_round_trip(0x7f0000000010, block_of(16, 1U << bit));
  expect_round_trip(0x7ffffffffff8, block_of(kMostSize, kMostStack));
}

TEST(LiveBucket, HoldsAnyBlockOfAHeap) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 100000; ++i) {
    const __u64 address = (random() & 0x7fffffffffff) & ~7ULL;
    if (static_cast<__u32>(address >> 3) == 0) continue;
    expect_round_trip(address, block_of(random() & kMostSize, static_cast<__u32>(random()) & kMostStack,
                                        static_cast<__u32>(random()) & HAWK_STAMP_MOST));
  }
}

TEST(LiveBucket, RefusesWhatDoesNotFit) {
  const hawk_block small = block_of(16, 4);
  EXPECT_FALSE(hawk_slot_fits(1ULL << 47 | 16, &small)) << "five-level paging";
  EXPECT_FALSE(hawk_slot_fits(1ULL << 55 | 16, &small));
  for (__u64 odd = 1; odd < 8; ++odd) EXPECT_FALSE(hawk_slot_fits(0x7f0000000010 + odd, &small)) << odd;
  for (const __u64 number : {0ULL, 1ULL, 5ULL, 4095ULL}) {
    EXPECT_FALSE(hawk_slot_fits(number << 35, &small)) << "a multiple of 32 GiB looks like a free slot";
    EXPECT_FALSE(hawk_slot_fits_address(number << 35));
  }
  for (const __u64 size : {kMostSize + 1, 5ULL << 30, ~0ULL}) {
    const hawk_block large = block_of(size, 4);
    EXPECT_FALSE(hawk_slot_fits(0x7f0000000010, &large)) << size;
  }
  const hawk_block last_stack = block_of(16, kMostStack + 1);
  EXPECT_FALSE(hawk_slot_fits(0x7f0000000010, &last_stack));
}

std::array<__u32, HAWK_BUCKET_CHOICES> choices_of(__u64 hash) {
  std::array<__u32, HAWK_BUCKET_CHOICES> choices{};
  for (__u32 i = 0; i < HAWK_BUCKET_CHOICES; ++i) choices[i] = hawk_bucket_choice(hash, i);
  return choices;
}

// They are locked in this order: descending or equal ones would deadlock.
TEST(LiveBucket, ChoicesAreDistinctAscendingAndContainTheHome) {
  std::mt19937_64 random(13);
  for (int i = 0; i < 10000; ++i) {
    const __u64 hash = random();
    const auto choices = choices_of(hash);
    for (std::size_t at = 1; at < choices.size(); ++at) ASSERT_LT(choices[at - 1], choices[at]);
    ASSERT_LT(choices.back(), static_cast<__u32>(HAWK_PAGE_BUCKETS));
    ASSERT_NE(std::find(choices.begin(), choices.end(), hawk_home_bucket(hash)), choices.end());
  }
}

// Locks are taken in the order of the choices, whatever is home: one in each quarter of the page.
TEST(LiveBucket, EachChoiceIsInItsQuarterOfThePage) {
  constexpr __u32 kQuarter = HAWK_PAGE_BUCKETS / HAWK_BUCKET_CHOICES;
  std::mt19937_64 random(17);
  for (int i = 0; i < 10000; ++i) {
    const auto choices = choices_of(random());
    for (__u32 number = 0; number < HAWK_BUCKET_CHOICES; ++number) ASSERT_EQ(choices[number] / kQuarter, number);
  }
}

TEST(LiveBucket, HomesAreEven) {
  constexpr int kBlocksPerBucket = 10000;
  for (const __u64 stride : {16, 48, 112, 4112, 65536}) {
    std::vector<int> found(HAWK_PAGE_BUCKETS);
    for (__u64 i = 0; i < HAWK_PAGE_BUCKETS * kBlocksPerBucket; ++i) {
      ++found[hawk_home_bucket(hawk_live_hash(0x555555559010 + i * stride, 1025))];
    }
    for (const int count : found) EXPECT_NEAR(count, kBlocksPerBucket, 0.06 * kBlocksPerBucket) << stride;
  }
}

}  // namespace
}  // namespace hawk
