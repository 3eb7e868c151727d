#include "bpf/layout.h"

#include <gtest/gtest.h>

#include <cstddef>

// Both worlds compile this header; the numbers are what the programs were built with.
static_assert(sizeof(hawk_counters) == 32);
static_assert(sizeof(hawk_block) == 16);
static_assert(sizeof(hawk_stack_record) == 16);
static_assert(sizeof(hawk_frameless_rule) == 8);
static_assert(sizeof(hawk_config) == 40);

namespace {

// Array maps are mapped with a stride of eight-byte multiples: a record of another size would be read shifted.
TEST(Layout, MappedRecordsAreMultiplesOfEightBytes) {
  EXPECT_EQ(sizeof(hawk_counters) % 8, 0u);
  EXPECT_EQ(sizeof(hawk_stack_record) % 8, 0u);
}

// What programs write on each new stack or loss must not share a cache line with what they read on each call.
TEST(Layout, HotAndColdStateLieOnDifferentCacheLines) {
  const std::size_t read_often = offsetof(hawk_state, frameless) + sizeof(hawk_state::frameless) - 1;
  EXPECT_LT(read_often / 64, offsetof(hawk_state, next_frame) / 64);
  EXPECT_LT(offsetof(hawk_state, next_stack) / 64, offsetof(hawk_state, losses) / 64);
}

}  // namespace
