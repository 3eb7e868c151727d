#include "userspace/tracer/last_look.h"

#include <gtest/gtest.h>

#include <span>
#include <utility>
#include <vector>

namespace hawk {
namespace {

class LastLookTest : public testing::Test {
 protected:
  static hawk_probe_point at(std::uint64_t address) {
    hawk_probe_point point = {};
    point.address = address;
    point.inode = 7;
    return point;
  }

  std::vector<hawk_target> targets_ = std::vector<hawk_target>(2);
  hawk_target* const target_ = targets_.data();
  std::vector<hawk_probe_point> points_ = std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS);
  const std::span<hawk_target> all_targets_ = targets_;
  ProbePointStore store_{GrowingArray<hawk_probe_point>(points_), all_targets_};
  LastLook look_{*target_, store_};
  const std::vector<hawk_probe_point> three_ = {at(0x1000), at(0x2000), at(0x3000)};
  const std::vector<hawk_probe_point> two_ = {at(0x8000), at(0x9000)};
};

using Seen = std::vector<LastLook::Missing>;

TEST_F(LastLookTest, WhatWasSeenIsTakenOnce) {
  look_.set(three_, {});
  points_[1].is_missing = HAWK_MISSING_THERE;
  points_[2].is_missing = HAWK_MISSING_IN_NEW_CODE | HAWK_MISSING_THERE;
  EXPECT_EQ(look_.take_missing(), (Seen{{1, false}, {2, true}}));
  EXPECT_TRUE(look_.take_missing().empty());
}

/// The process may end, or begin another program, at any moment before the points are replaced.
TEST_F(LastLookTest, WhatWasSeenOfPointsThatAreReplacedIsNotLost) {
  look_.set(three_, {});
  points_[2].is_missing = HAWK_MISSING_THERE;
  EXPECT_EQ(look_.set(two_, {}).seen, (Seen{{2, false}}));
  EXPECT_TRUE(look_.take_missing().empty()) << "nothing is said of the new points";
  ASSERT_EQ(hawk_points_count(target_->probe_points), 2U);
  EXPECT_EQ(points_[hawk_points_first(target_->probe_points)].address, 0x8000U);
}

TEST_F(LastLookTest, PointsOfAnotherTargetAreLeftAlone) {
  look_.set(three_, {});
  hawk_target other = {};
  LastLook other_look(other, store_);
  other_look.set(two_, {});
  const __u32 first = hawk_points_first(target_->probe_points), of_other = hawk_points_first(other.probe_points);
  EXPECT_EQ(points_[first].address, 0x1000U);
  EXPECT_EQ(points_[of_other].address, 0x8000U);
  points_[of_other].is_missing = HAWK_MISSING_THERE;
  EXPECT_TRUE(look_.take_missing().empty());
  EXPECT_EQ(other_look.take_missing(), (Seen{{0, false}}));
}

TEST_F(LastLookTest, MorePointsThanThereIsRoomForAreLeftOut) {
  EXPECT_FALSE(look_.set(std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS + 1, at(0x1000)), {}).is_made);
  EXPECT_EQ(target_->probe_points, 0U);
}

/// A process that a target has started looks at the target's points until it is taken over, and passes them on.
TEST_F(LastLookTest, PointsStayForAsLongAsTheyAreBorrowed) {
  const auto is_lent = [&](std::uint64_t word) {
    return points_[hawk_points_first(word)].set == hawk_points_set(word);
  };
  const auto change_often = [&] {
    for (std::size_t i = 0; i < HAWK_MAX_PROBE_POINTS; ++i) {
      look_.set(i % 2 == 0 ? two_ : three_, {});
      ASSERT_NE(target_->probe_points, 0U);
    }
  };
  look_.set(three_, {});
  const std::uint64_t borrowed = targets_[1].probe_points = target_->probe_points;
  change_often();
  EXPECT_TRUE(is_lent(borrowed));
  EXPECT_EQ(points_[hawk_points_first(borrowed)].address, 0x1000U);
  targets_[1].probe_points = 0;
  change_often();
  EXPECT_FALSE(is_lent(borrowed)) << "it can be told that it is gone";
}

TEST_F(LastLookTest, ATargetThatIsLetGoHasNoPoints) {
  {
    LastLook other(targets_[1], store_);
    other.set(three_, {});
    LastLook moved(std::move(other));
    EXPECT_NE(targets_[1].probe_points, 0U);
  }
  EXPECT_EQ(targets_[1].probe_points, 0U);
}

TEST_F(LastLookTest, BorrowedPointsAreKeptWhereThereIsNoRoom) {
  hawk_target other = {};
  LastLook other_look(other, store_);
  ASSERT_TRUE(other_look.set(std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS, at(0x1000)), {}).is_made);
  ASSERT_NE(other.probe_points, 0U);
  target_->probe_points = other.probe_points;
  target_->borrows_points = HAWK_POINTS_OF_MAKER;
  EXPECT_FALSE(look_.set(three_, {}).is_made);
  EXPECT_EQ(target_->probe_points, other.probe_points);
  EXPECT_EQ(target_->borrows_points, HAWK_POINTS_OF_MAKER);
  EXPECT_TRUE(look_.take_missing().empty());
}

/// Many processes: the programs look on at what they know of this one.
TEST_F(LastLookTest, OwnPointsAreKeptWhereThereIsNoRoomForOthers) {
  look_.set(three_, {});
  hawk_target other = {};
  LastLook other_look(other, store_);
  ASSERT_TRUE(other_look.set(std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS - 4, at(0x1000)), {}).is_made);
  points_[1].is_missing = HAWK_MISSING_THERE;
  const LastLook::Change refused = look_.set(two_, {});
  EXPECT_FALSE(refused.is_made);
  EXPECT_EQ(refused.seen, (Seen{{1, false}}));
  ASSERT_EQ(hawk_points_count(target_->probe_points), 3U);
  EXPECT_EQ(points_[hawk_points_first(target_->probe_points)].address, 0x1000U);
  points_[2].is_missing = HAWK_MISSING_IN_NEW_CODE;
  EXPECT_EQ(look_.take_missing(), (Seen{{2, true}}));
}

}  // namespace
}  // namespace hawk
