#include "userspace/tracer/last_look.h"

#include <gtest/gtest.h>

#include <memory>

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

  std::unique_ptr<hawk_target> target_ = std::make_unique<hawk_target>();
  IndexPool pool_{HAWK_MAX_PROBE_POINTS};
  std::vector<hawk_probe_point> points_ = std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS);
  LastLook look_{*target_, points_, pool_};
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
  EXPECT_EQ(look_.set(two_, {}), (Seen{{2, false}}));
  EXPECT_TRUE(look_.take_missing().empty()) << "nothing is said of the new points";
  EXPECT_EQ(target_->probe_point_count, 2U);
  EXPECT_EQ(points_[0].address, 0x8000U);
}

TEST_F(LastLookTest, PointsOfAnotherTargetAreLeftAlone) {
  look_.set(three_, {});
  hawk_target other = {};
  LastLook other_look(other, points_, pool_);
  other_look.set(two_, {});
  EXPECT_EQ(points_[target_->first_probe_point].address, 0x1000U);
  EXPECT_EQ(points_[other.first_probe_point].address, 0x8000U);
  points_[other.first_probe_point].is_missing = HAWK_MISSING_THERE;
  EXPECT_TRUE(look_.take_missing().empty());
  EXPECT_EQ(other_look.take_missing(), (Seen{{0, false}}));
}

TEST_F(LastLookTest, MorePointsThanThereIsRoomForAreLeftOut) {
  EXPECT_TRUE(look_.set(std::vector<hawk_probe_point>(HAWK_MAX_PROBE_POINTS + 1, at(0x1000)), {}).empty());
  EXPECT_EQ(target_->probe_point_count, 0U);
}

}  // namespace
}  // namespace hawk
