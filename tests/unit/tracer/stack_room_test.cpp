#include "userspace/tracer/stack_room.h"

#include <gtest/gtest.h>

#include "tests/unit/tracer/fake_maps.h"

namespace hawk {
namespace {

constexpr std::uint64_t kManyFrames = 1 << 20;

TEST(StackRoom, IsHalfTakenByNumbers) {
  FakeMaps fake;
  StackRoom room(HAWK_FIRST_STACK);
  for (std::uint32_t i = 0; i < (FakeMaps::kStacks - HAWK_FIRST_STACK) / 2; ++i) {
    EXPECT_FALSE(room.is_half_taken(fake.maps(), kManyFrames)) << i;
    fake.add_stack({7});
  }
  EXPECT_TRUE(room.is_half_taken(fake.maps(), kManyFrames));
}

TEST(StackRoom, WhatIsSetAsideIsNotTaken) {
  FakeMaps fake;
  fake.state().next_stack = FakeMaps::kStacks - 2;
  EXPECT_TRUE(StackRoom(HAWK_FIRST_STACK).is_half_taken(fake.maps(), kManyFrames));
  EXPECT_FALSE(StackRoom(FakeMaps::kStacks - 2).is_half_taken(fake.maps(), kManyFrames));
}

TEST(StackRoom, IsHalfTakenByFrames) {
  FakeMaps fake;
  StackRoom room(HAWK_FIRST_STACK);
  fake.add_stack({7, 7, 7, 7});
  EXPECT_FALSE(room.is_half_taken(fake.maps(), 10));
  EXPECT_TRUE(room.is_half_taken(fake.maps(), 8));
}

/// Frames may be many, of a few locations.
TEST(StackRoom, IsHalfTakenByLocations) {
  FakeMaps fake;
  StackRoom room(HAWK_FIRST_STACK);
  fake.state().next_frame = FakeMaps::kFrames;
  for (std::uint32_t number = 0; number < FakeMaps::kFrames / 2; ++number) {
    EXPECT_FALSE(room.is_half_taken(fake.maps(), kManyFrames)) << number;
    fake.set_location(number, 4096 + number);
    ++fake.state().next_frame;
  }
  EXPECT_TRUE(room.is_half_taken(fake.maps(), kManyFrames));
}

}  // namespace
}  // namespace hawk
