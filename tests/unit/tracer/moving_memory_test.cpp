#include "userspace/tracer/moving_memory.h"

#include <gtest/gtest.h>

#include <string>

namespace hawk {
namespace {

constexpr const char* kHeading = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";

TEST(MovingMemory, StaysWithoutSwapAndBalancing) {
  EXPECT_FALSE(may_move_memory(kHeading, "0\n"));
  EXPECT_FALSE(may_move_memory(kHeading, ""));
  EXPECT_FALSE(may_move_memory("", ""));  // a kernel without swap
}

TEST(MovingMemory, MayBeSwappedOut) {
  EXPECT_TRUE(may_move_memory(std::string(kHeading) + "/dev/zram0 partition\t1\t0\t100\n", "0\n"));
}

TEST(MovingMemory, MayBeBalanced) {
  EXPECT_TRUE(may_move_memory(kHeading, "1\n"));
  EXPECT_TRUE(may_move_memory(kHeading, "2\n"));  // memory tiering
  EXPECT_TRUE(may_move_memory(kHeading, "10\n"));
}

}  // namespace
}  // namespace hawk
