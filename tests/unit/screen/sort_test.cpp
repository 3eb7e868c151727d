#include "userspace/screen/sort.h"

#include <gtest/gtest.h>

#include <set>

namespace hawk {
namespace {

TEST(ScreenSort, EveryOrderHasAKeyATitleAndANeighbour) {
  std::set<char> keys;
  for (const SortChoice& choice : kSortChoices) {
    EXPECT_EQ(&sort_choice(choice.sort), &choice);
    EXPECT_EQ(sort_by_key(choice.key), choice.sort);
    EXPECT_EQ(previous_sort(next_sort(choice.sort)), choice.sort);
    keys.insert(choice.key);
  }
  EXPECT_EQ(keys.size(), kSortChoices.size());
  EXPECT_EQ(sort_by_key('q'), std::nullopt);
}

TEST(ScreenSort, BeginsAsAsked) {
  EXPECT_EQ(screen_sort(SortKey::kLive), ScreenSort::kLive);
  EXPECT_EQ(screen_sort(SortKey::kLiveCount), ScreenSort::kBlocks);
  EXPECT_EQ(screen_sort(SortKey::kAllocated), ScreenSort::kAllocated);
  EXPECT_EQ(screen_sort(SortKey::kAllocatedCount), ScreenSort::kAllocations);
  EXPECT_EQ(screen_sort(SortKey::kFreedCount), ScreenSort::kFrees);
}

TEST(ScreenSort, ChangesAreOrderedWithTheirSign) {
  const Counters small = {100, 1, 0, 0};
  const Counters large = {300, 3, 0, 0};
  const Counters huge = {~std::uint64_t{0}, 1, 0, 0};
  const auto change = [](const Counters& before, const Counters& now) {
    return sort_value(now, &before, ScreenSort::kChange);
  };
  EXPECT_GT(change(small, large), change(small, small));
  EXPECT_GT(change(small, small), change(large, small));
  EXPECT_GT(change(small, huge), change(small, large));
  EXPECT_LT(change(huge, small), change(large, small));
  EXPECT_EQ(sort_value(large, nullptr, ScreenSort::kChange), change(small, {400, 4, 0, 0}));
}

TEST(ScreenSort, WhatIsListedHasSomethingOfTheQuantity) {
  const Counters freed = {100, 1, 100, 1};
  EXPECT_FALSE(is_listed(freed, ScreenSort::kLive));
  EXPECT_FALSE(is_listed(freed, ScreenSort::kBlocks));
  EXPECT_TRUE(is_listed(freed, ScreenSort::kAllocated));
  EXPECT_TRUE(is_listed(freed, ScreenSort::kFunction));
  EXPECT_FALSE(is_listed({100, 1, 0, 0}, ScreenSort::kFrees));
  EXPECT_FALSE(is_listed({}, ScreenSort::kFunction));
}

}  // namespace
}  // namespace hawk
