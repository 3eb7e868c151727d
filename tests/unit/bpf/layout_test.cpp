#include "bpf/layout.h"

#include <gtest/gtest.h>

#include <cstddef>

#include "bpf/live/arena_layout.h"
#include "bpf/live/bucket.h"
#include "bpf/live/geometry.h"

// Both worlds compile these headers; the numbers are what the programs were built with.
static_assert(sizeof(hawk_counters) == 32);
static_assert(sizeof(hawk_block) == 24);
static_assert(sizeof(hawk_stack_record) == 16);
static_assert(sizeof(hawk_operator_rule) == 8);
static_assert(sizeof(hawk_config) == 120);
static_assert(sizeof(hawk_block_key) == 12);
static_assert(sizeof(hawk_two_frames) == 8);
static_assert(sizeof(hawk_page_range) == 16);
static_assert(sizeof(hawk_direct_map_check) == 80);

// A bucket is two cache lines, the first of which has the lock and every address; a page is one of the arena's.
static_assert(sizeof(hawk_bucket) == 128);
static_assert(offsetof(hawk_bucket, low) + sizeof(hawk_bucket::low) <= 64);
static_assert(sizeof(hawk_live_page) == HAWK_ARENA_PAGE_BYTES);
static_assert(HAWK_PAGE_BUCKETS % HAWK_BUCKET_CHOICES == 0);

// What every event reads, what growth writes, and what each CPU writes, on cache lines of their own.
static_assert(offsetof(hawk_arena_header, geometry) == 0);
static_assert(offsetof(hawk_arena_header, growing) == 64);
static_assert(offsetof(hawk_arena_header, population) == 128);
static_assert(sizeof(hawk_cpu_population) == 64);
static_assert(sizeof(hawk_arena_header) <= HAWK_ARENA_LIVE_PAGE * HAWK_ARENA_PAGE_BYTES);

// All pages that the largest table can have are below 4 GiB, which is all that an arena can be.
static_assert((HAWK_ARENA_LIVE_PAGE + ((HAWK_SET_PAGES_MOST * 1ULL) << HAWK_SETS_LOG2_MOST)) * HAWK_ARENA_PAGE_BYTES <=
              1ULL << 32);
// And they hold as many blocks as can be asked for.
static_assert(((HAWK_SET_PAGES_MOST * 1ULL) << HAWK_SETS_LOG2_MOST) * HAWK_PAGE_SLOTS * HAWK_FULL_PERCENT / 100 >=
              HAWK_MAX_BLOCKS);

namespace {

// Array maps are mapped with a stride of eight-byte multiples: a record of another size would be read shifted.
TEST(Layout, MappedRecordsAreMultiplesOfEightBytes) {
  EXPECT_EQ(sizeof(hawk_counters) % 8, 0u);
  EXPECT_EQ(sizeof(hawk_stack_record) % 8, 0u);
}

// What programs write on each new stack or loss must not share a cache line with what they read on each call.
TEST(Layout, HotAndColdStateLieOnDifferentCacheLines) {
  EXPECT_LT(offsetof(hawk_state, programs_ended) / 64, offsetof(hawk_state, next_frame) / 64);
  EXPECT_EQ(offsetof(hawk_state, next_frame) % 64, 0u);
  EXPECT_EQ(offsetof(hawk_state, next_frame) / 64, offsetof(hawk_state, next_stack) / 64);
  EXPECT_EQ(offsetof(hawk_target, memory) / 64, 0u) << "what every event reads";
  const std::size_t read_often = offsetof(hawk_target, files) + sizeof(hawk_target::files) - 1;
  EXPECT_LT(read_often / 64, offsetof(hawk_target, used_ranges) / 64);
  EXPECT_LT(offsetof(hawk_target, unwind_misses) / 64, offsetof(hawk_target, losses) / 64);
  EXPECT_EQ(offsetof(hawk_target, losses) % 64, 0u);
  EXPECT_EQ(sizeof(hawk_target) % 64, 0u);
}

}  // namespace
