#include "userspace/tables/stack_lives.h"

#include <gtest/gtest.h>

#include <vector>

namespace hawk {
namespace {

TEST(StackLives, AreTheNumbersOfHistograms) {
  BlockHistograms all;
  for (std::uint32_t number = 0; number < BlockHistograms::kNumbers; ++number) all.at(number) = number + 1;
  EXPECT_EQ(all.sizes.front(), 1u);
  EXPECT_EQ(all.sizes.back(), BlockHistograms::kSizes);
  EXPECT_EQ(all.lifetimes.front(), BlockHistograms::kSizes + 1);
  EXPECT_EQ(all.lifetimes.back(), BlockHistograms::kSizes + BlockHistograms::kLifetimes);
  EXPECT_EQ(all.temporary, 69u);
  EXPECT_EQ(all.freed_by_others, 70u);
  std::vector<StackLives> lives;
  all.append_to(lives, StackId{7});
  ASSERT_EQ(lives.size(), BlockHistograms::kNumbers);
  BlockHistograms sum;
  for (const StackLives& own : lives) sum += own;
  EXPECT_EQ(sum, all);
}

TEST(StackLives, OfOneStackAndTargetAreMerged) {
  std::vector<StackLives> lives = {{StackId{2}, TargetId{1}, 3, 5},
                                   {StackId{1}, TargetId{0}, 4, 1},
                                   {StackId{2}, TargetId{0}, 3, 2},
                                   {StackId{2}, TargetId{1}, 3, 6},
                                   {StackId{1}, TargetId{0}, 3, 9}};
  merge_lives(lives);
  EXPECT_EQ(lives, (std::vector<StackLives>{{StackId{1}, TargetId{0}, 3, 9},
                                            {StackId{1}, TargetId{0}, 4, 1},
                                            {StackId{2}, TargetId{0}, 3, 2},
                                            {StackId{2}, TargetId{1}, 3, 11}}));
}

}  // namespace
}  // namespace hawk
