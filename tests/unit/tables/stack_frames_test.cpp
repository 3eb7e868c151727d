#include "userspace/tables/stack_frames.h"

#include <gtest/gtest.h>

namespace hawk {
namespace {

std::vector<LocationId> locations(const StackFrames& frames) { return {frames.begin(), frames.end()}; }

TEST(StackFrames, WithoutFramesIsEmpty) {
  const StackFrames none;
  EXPECT_TRUE(none.empty());
  EXPECT_EQ(none.size(), 0U);
  EXPECT_EQ(none.begin(), none.end());
  EXPECT_EQ(none, StackFrames(std::vector<LocationId>{}));
}

TEST(StackFrames, IsPartOfABlockThatLivesAsLongAsAnyPart) {
  StackFrames middle;
  {
    const auto block = std::make_shared<const std::vector<LocationId>>(
        std::vector<LocationId>{LocationId{1}, LocationId{2}, LocationId{3}, LocationId{4}});
    middle = StackFrames(block, 1, 2);
    EXPECT_EQ(middle.begin(), block->data() + 1);
  }
  const StackFrames copy = middle;
  EXPECT_EQ(copy.begin(), middle.begin());
  EXPECT_EQ(locations(copy), (std::vector<LocationId>{LocationId{2}, LocationId{3}}));
  EXPECT_EQ(copy[1], LocationId{3});
}

TEST(StackFrames, EqualityIsOfTheFrames) {
  const StackFrames frames(std::vector<LocationId>{LocationId{1}, LocationId{2}});
  EXPECT_EQ(frames, StackFrames(std::vector<LocationId>{LocationId{1}, LocationId{2}}));
  EXPECT_NE(frames, StackFrames(std::vector<LocationId>{LocationId{1}}));
  EXPECT_NE(frames, StackFrames(std::vector<LocationId>{LocationId{1}, LocationId{3}}));
}

}  // namespace
}  // namespace hawk
