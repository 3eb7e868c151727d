// How full the arena's live table becomes as it grows, and what finds no room.

#include <gtest/gtest.h>

#include <string>

#include "tests/unit/bpf/live_arena_world.h"

namespace hawk {
namespace {

TEST_F(LiveArena, GrowsAndShrinksWithItsBlocks) {
  const __u64 count = 1'000'000;
  for (__u64 i = 1; i <= count; ++i) ASSERT_EQ(insert(0x7f0000000000 + i * 80, block_of(i)), HAWK_INSERTED) << i;
  const double full = static_cast<double>(population()) / (pages_used() * HAWK_PAGE_SLOTS);
  EXPECT_GT(full, (HAWK_FULL_PERCENT - 2) / 100.0);
  EXPECT_LT(full, (HAWK_FULL_PERCENT + 1) / 100.0);
  EXPECT_LT(host_arena::spilled.size(), count / 300);
  for (__u64 i = 1; i <= count; ++i) {
    const hawk_block taken = take(0x7f0000000000 + i * 80);
    ASSERT_EQ(taken.size_bytes, block_of(i).size_bytes) << i;
    ASSERT_EQ(taken.born, block_of(i).born) << i;
    if (i % 128 == 0) hawk_resize(0);
  }
  while (hawk_resize(0) != 0) {
  }
  EXPECT_EQ(population(), 0);
  EXPECT_EQ(pages_used(), hawk_geometry_pages(hawk_geometry_start()));
}

/// The share of a million blocks, at this distance from one another, that find no room.
class LiveArenaSpills : public LiveArena, public ::testing::WithParamInterface<__u64> {};

TEST_P(LiveArenaSpills, AreFewAtEachDistanceOfBlocks) {
  constexpr __u64 kCount = 1'000'000;
  for (__u64 i = 1; i <= kCount; ++i) {
    ASSERT_EQ(insert(0x7f0000000000 + i * GetParam(), block_of(i)), HAWK_INSERTED) << i;
  }
  const double share = static_cast<double>(host_arena::spilled.size()) / kCount;
  // The hash map has room for one block in 128 of those that the arena holds (memory_plan.cpp).
  EXPECT_LT(share, GetParam() <= 32 ? 0.0065 : 0.001);
}

INSTANTIATE_TEST_SUITE_P(Distances, LiveArenaSpills, ::testing::Values(8, 16, 32, 48, 64, 80, 128, 256, 512, 4112),
                         [](const ::testing::TestParamInfo<__u64>& distance) {
                           return std::to_string(distance.param);
                         });

TEST_F(LiveArena, SaysWhenItHasNoRoomAndThatPagesAreMissing) {
  header_->pages_ready = hawk_geometry_pages(hawk_geometry_start());
  for (__u64 i = 1; i <= 20000; ++i) ASSERT_EQ(insert(0x7f0000000000 + i * 80, block_of(i)), HAWK_INSERTED);
  EXPECT_EQ(header_->short_of_pages, 1U);
  EXPECT_EQ(static_cast<__u64>(population()) + host_arena::spilled.size(), 20000U);
  EXPECT_GE(host_arena::spilled.size(), 20000U - header_->pages_ready * HAWK_PAGE_SLOTS);
}

}  // namespace
}  // namespace hawk
