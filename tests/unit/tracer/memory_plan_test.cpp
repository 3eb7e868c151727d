// How large the kernel's tables are made, and that --max-memory is kept.
#include "userspace/tracer/memory_plan.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>

#include "bpf/layout.h"
#include "bpf/live/arena_layout.h"
#include "bpf/live/geometry.h"
#include "userspace/tracer/arena_memory.h"

namespace hawk {
namespace {

constexpr std::uint32_t kStacksByDefault = 131072;
constexpr std::uint64_t kMiB = 1ULL << 20;
/// Of one entry of the map that holds what does not fit into the arena, made when it is needed: key, block and the
/// kernel's own header.
constexpr std::uint64_t kOverflowEntryBytes = 64;

MemoryLimits limits() { return {.max_stacks = kStacksByDefault}; }

MemoryLimits limits_within(std::uint64_t max_memory_bytes, std::uint32_t max_stacks = kStacksByDefault) {
  return {.max_stacks = max_stacks, .max_memory_bytes = max_memory_bytes};
}

MemoryPlan plan_of(const MemoryLimits& limits, LiveTable table, std::uint32_t cpus = 2) {
  const Result<MemoryPlan> plan = plan_memory(limits, table, cpus);
  if (plan) return *plan;
  ADD_FAILURE() << plan.error().what;
  return {};
}

/// The same with the note whose it is, and its bucket in a table whose buckets are a power of two; and of an entry of
/// the reserve, made beforehand.
constexpr std::uint64_t kHashEntryBytes = 104;
constexpr std::uint64_t kReserveEntryBytes = 72;
constexpr std::uint64_t kBucketBytes = 16;

/// What a hash table of blocks takes at its fullest.
std::uint64_t bytes_of_hash(const MemoryPlan& plan) {
  return plan.hash_blocks * kHashEntryBytes + plan.reserve_blocks * kReserveEntryBytes +
         (std::bit_ceil(plan.hash_blocks) + std::bit_ceil(plan.reserve_blocks)) * kBucketBytes;
}

/// The memory of the tables apart from live blocks.
std::uint64_t bytes_of_stacks(const MemoryPlan& plan) {
  return plan.stacks * (std::uint64_t{plan.counter_stripes} * sizeof(hawk_counters) + sizeof(hawk_stack_record)) +
         (std::uint64_t{plan.stack_index_entries} + plan.locations) * sizeof(__u64) + plan.frames * sizeof(__u32);
}

TEST(MemoryPlan, ChangesOfMappingsWaitWithinTheBounds) {
  EXPECT_EQ(plan_of(limits(), LiveTable::kArena).region_ring_bytes, 0u);
  MemoryLimits follows = limits();
  follows.follows_regions = true;
  EXPECT_EQ(plan_of(follows, LiveTable::kArena).region_ring_bytes, 16 * kMiB);
  follows.max_stacks = 1000;
  follows.max_memory_bytes = 100 * kMiB;
  EXPECT_EQ(plan_of(follows, LiveTable::kArena).region_ring_bytes, 4 * kMiB);
  const MemoryPlan without = plan_of(limits_within(100 * kMiB, 1000), LiveTable::kArena);
  EXPECT_LE(plan_of(follows, LiveTable::kArena).arena_pages, without.arena_pages - 3 * kMiB / HAWK_ARENA_PAGE_BYTES);
}

/// The smallest --max-memory that is not refused.
std::uint64_t least_memory(LiveTable table, std::uint32_t max_stacks) {
  std::uint64_t refused = 0, accepted = 1ULL << 40;
  while (accepted - refused > 1) {
    const std::uint64_t middle = refused + (accepted - refused) / 2;
    (plan_memory(limits_within(middle, max_stacks), table, 2) ? accepted : refused) = middle;
  }
  return accepted;
}

TEST(MemoryPlan, ArenaByDefaultHoldsAllTheBlocksThatCanBeAskedFor) {
  const MemoryPlan plan = plan_of(limits(), LiveTable::kArena);
  EXPECT_EQ(plan.arena_pages, ArenaMemory::pages_for(HAWK_MAX_BLOCKS));
  EXPECT_GE(std::uint64_t{plan.arena_pages} * HAWK_PAGE_SLOTS * HAWK_FULL_PERCENT / 100, HAWK_MAX_BLOCKS);
  EXPECT_LE((HAWK_ARENA_LIVE_PAGE + plan.arena_pages) * HAWK_ARENA_PAGE_BYTES, 1ULL << 32) << "an arena is 4 GiB";
}

TEST(MemoryPlan, HashByDefaultHoldsAMillionBlocks) {
  const MemoryPlan plan = plan_of(limits(), LiveTable::kHash);
  EXPECT_EQ(plan.hash_blocks, 1U << 20);
  EXPECT_EQ(plan.arena_pages, 0U);
  EXPECT_EQ(plan.reserve_blocks, plan.hash_blocks) << "all of them may be refused memory";
}

TEST(MemoryPlan, OnlyTheHashHasAReserve) {
  for (const std::uint64_t bytes : {128 * kMiB, 1024 * kMiB}) {
    EXPECT_EQ(plan_of(limits_within(bytes), LiveTable::kArena).reserve_blocks, 0U);
    const MemoryPlan hash = plan_of(limits_within(bytes), LiveTable::kHash);
    EXPECT_EQ(hash.reserve_blocks, hash.hash_blocks / 4) << "where memory is bounded";
  }
  EXPECT_EQ(plan_of(limits_within(least_memory(LiveTable::kHash, 1000), 1000), LiveTable::kHash).reserve_blocks, 1U);
}

TEST(MemoryPlan, StacksHaveTheirNumbersIndexAndFrames) {
  for (const LiveTable table : {LiveTable::kArena, LiveTable::kHash}) {
    for (const std::uint32_t stacks : {16U, 1000U, 65536U, kStacksByDefault, 1000000U}) {
      const MemoryPlan plan = plan_of({.max_stacks = stacks}, table);
      EXPECT_EQ(plan.stacks, stacks + HAWK_FIRST_STACK);
      EXPECT_TRUE(std::has_single_bit(plan.stack_index_entries));
      EXPECT_GE(plan.stack_index_entries, 3 * plan.stacks) << "a fuller table has no room near some entry's place";
      EXPECT_TRUE(std::has_single_bit(plan.locations));
      EXPECT_GE(plan.locations, 2 * stacks);
      EXPECT_LE(plan.stacks, HAWK_SLOT_STACK_MASK) << "a slot has 20 bits for the number";
    }
  }
}

TEST(MemoryPlan, FramesMayBecomeAsManyAsTheDeepestStacksNeed) {
  for (const std::uint32_t depth : {1U, 5U, 64U, 256U}) {
    for (const std::uint32_t stacks : {16U, 1000U, kStacksByDefault, 1000000U}) {
      const MemoryPlan plan = plan_of({.max_stacks = stacks, .max_depth = depth}, LiveTable::kArena);
      EXPECT_GE(plan.frames, std::uint64_t{stacks} * (depth + depth % 2)) << "each stack takes an even number";
      EXPECT_LT(plan.frames, std::uint64_t{stacks} * (depth + depth % 2) + HAWK_SEGMENT_FRAMES);
      EXPECT_EQ(plan.frames % HAWK_SEGMENT_FRAMES, 0U);
    }
  }
}

TEST(MemoryPlan, RoomForFramesBeginsSmallAndWithWholeSegments) {
  for (const std::uint32_t cpus : {1U, 2U, 16U, 64U}) {
    for (const std::uint32_t stacks : {16U, 1000U, kStacksByDefault, 1000000U}) {
      const MemoryPlan plan = plan_of({.max_stacks = stacks}, LiveTable::kArena, cpus);
      EXPECT_GT(plan.spare_frames, 0U);
      EXPECT_LE(plan.spare_frames, plan.frames);
      EXPECT_EQ(plan.spare_frames % HAWK_SEGMENT_FRAMES, 0U);
      EXPECT_LE(plan.spare_frames * sizeof(__u32), plan.counter_stripes * 4 * kMiB);
      EXPECT_GE(plan.spare_frames, std::min(plan.frames, 1U << 20)) << "a burst finds room";
    }
  }
}

// 36 frames a stack are set aside; what is left beyond them is for blocks first.
TEST(MemoryPlan, FramesKeepToTheirShareOfBoundedMemory) {
  const std::uint32_t most = plan_of(limits(), LiveTable::kArena).frames;
  for (const LiveTable table : {LiveTable::kArena, LiveTable::kHash}) {
    std::uint32_t before = 0;
    for (const std::uint64_t bytes : {64 * kMiB, 128 * kMiB, 512 * kMiB, 4096 * kMiB}) {
      const MemoryPlan plan = plan_of(limits_within(bytes), table);
      EXPECT_GE(plan.frames, 36 * kStacksByDefault);
      EXPECT_GE(plan.frames, plan.spare_frames);
      EXPECT_GE(plan.frames, before);
      EXPECT_EQ(plan.frames % HAWK_SEGMENT_FRAMES, 0U);
      EXPECT_LE((plan.frames - 36 * kStacksByDefault) * sizeof(__u32), bytes / 8 + kMiB);
      before = plan.frames;
    }
    EXPECT_EQ(before, most) << "there is enough for all";
  }
}

TEST(MemoryPlan, StripesAreOnePerCpuUpToSixteen) {
  const std::pair<std::uint32_t, std::uint32_t> expected[] = {
      {0, 1}, {1, 1}, {2, 2}, {3, 4}, {4, 4}, {5, 8}, {16, 16}, {17, 16}, {64, 16}, {128, 16}, {4096, 16}};
  for (const auto& [cpus, stripes] : expected) {
    EXPECT_EQ(plan_of(limits(), LiveTable::kArena, cpus).counter_stripes, stripes) << cpus << " CPUs";
    EXPECT_EQ(plan_of(limits(), LiveTable::kHash, cpus).counter_stripes, stripes) << cpus << " CPUs";
  }
}

TEST(MemoryPlan, BlocksThatAreAskedForFit) {
  for (const std::uint32_t blocks : {1U, 1000U, 6144U, 100000U, 10000000U, 67108864U}) {
    const MemoryLimits asked = {.max_blocks = blocks, .max_stacks = 1000};
    EXPECT_EQ(plan_of(asked, LiveTable::kHash).hash_blocks, blocks);
    const MemoryPlan arena = plan_of(asked, LiveTable::kArena);
    EXPECT_GE(std::uint64_t{arena.arena_pages} * HAWK_PAGE_SLOTS * HAWK_FULL_PERCENT, std::uint64_t{blocks} * 100);
    EXPECT_GE(arena.arena_pages, hawk_geometry_pages(hawk_geometry_start()));
    EXPECT_GE(arena.hash_blocks, 1024U);
  }
}

// Not much more than asked for either: a tenth, and the smallest table.
TEST(MemoryPlan, ArenaTakesWhatItsBlocksNeedAndNoMore) {
  for (const std::uint32_t blocks : {1U, 1000U, 100000U, 10000000U}) {
    const MemoryPlan plan = plan_of({.max_blocks = blocks, .max_stacks = 1000}, LiveTable::kArena);
    const std::uint64_t bytes = plan.arena_pages * HAWK_ARENA_PAGE_BYTES + plan.hash_blocks * kOverflowEntryBytes;
    EXPECT_LE(bytes, 26ULL * blocks + 300 * 1024) << blocks;
  }
}

TEST(MemoryPlan, MaxMemoryIsKept) {
  for (const std::uint32_t cpus : {1U, 2U, 64U}) {
    for (const std::uint64_t bytes : {128 * kMiB, 200 * kMiB, 512 * kMiB, 1024 * kMiB, 3000 * kMiB}) {
      const MemoryPlan arena = plan_of(limits_within(bytes), LiveTable::kArena, cpus);
      EXPECT_LE(bytes_of_stacks(arena) + arena.arena_pages * HAWK_ARENA_PAGE_BYTES, bytes);
      EXPECT_LE(arena.hash_blocks, std::max<std::uint64_t>(1024, arena.arena_pages * HAWK_PAGE_SLOTS / 128));
      const MemoryPlan hash = plan_of(limits_within(bytes), LiveTable::kHash, cpus);
      EXPECT_LE(bytes_of_stacks(hash) + bytes_of_hash(hash), bytes);
    }
  }
}

TEST(MemoryPlan, MaxMemoryIsUsed) {
  const std::uint64_t bytes = 512 * kMiB;
  const MemoryPlan arena = plan_of(limits_within(bytes), LiveTable::kArena);
  EXPECT_GT(bytes_of_stacks(arena) + (arena.arena_pages + 1) * HAWK_ARENA_PAGE_BYTES, bytes);
  const MemoryPlan hash = plan_of(limits_within(bytes), LiveTable::kHash);
  EXPECT_TRUE(hash.hash_blocks == 1U << 20 || bytes_of_stacks(hash) + bytes_of_hash(hash) > bytes * 3 / 4);
}

TEST(MemoryPlan, WhicheverOfTheTwoLimitsIsLowerHolds) {
  MemoryLimits both = limits_within(1024 * kMiB);
  both.max_blocks = 1000;
  EXPECT_EQ(plan_of(both, LiveTable::kHash).hash_blocks, 1000U);
  EXPECT_EQ(plan_of(both, LiveTable::kArena).arena_pages, hawk_geometry_pages(hawk_geometry_start()));
  both.max_memory_bytes = 128 * kMiB;
  both.max_blocks = HAWK_MAX_BLOCKS;
  EXPECT_LT(plan_of(both, LiveTable::kHash).hash_blocks, HAWK_MAX_BLOCKS);
  EXPECT_LT(plan_of(both, LiveTable::kArena).arena_pages, ArenaMemory::pages_for(HAWK_MAX_BLOCKS));
}

TEST(MemoryPlan, TooLittleMemoryIsRefusedWithTheLeastThatIsNot) {
  for (const LiveTable table : {LiveTable::kArena, LiveTable::kHash}) {
    for (const std::uint32_t stacks : {16U, kStacksByDefault}) {
      const std::uint64_t least = least_memory(table, stacks);
      const MemoryPlan plan = plan_of(limits_within(least, stacks), table);
      EXPECT_GT(plan.hash_blocks, 0U);
      const Result<MemoryPlan> refused = plan_memory(limits_within(least - 1, stacks), table, 2);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().exit_code, ExitCode::kUsage);
      EXPECT_EQ(refused.error().what, "--max-memory: the tables of " + std::to_string(stacks) +
                                          " stacks and the smallest table of blocks take " + std::to_string(least) +
                                          " bytes");
      EXPECT_EQ(refused.error().hint, "raise --max-memory or lower --max-stacks");
    }
  }
}

TEST(MemoryPlan, LeastArenaIsTheSmallestTable) {
  const std::uint64_t least = least_memory(LiveTable::kArena, 1000);
  const std::uint32_t start = hawk_geometry_pages(hawk_geometry_start());
  EXPECT_EQ(plan_of(limits_within(least, 1000), LiveTable::kArena).arena_pages, start);
  EXPECT_EQ(plan_of(limits_within(least + HAWK_ARENA_PAGE_BYTES, 1000), LiveTable::kArena).arena_pages, start + 1);
}

TEST(MemoryPlan, LiveTablesHaveNames) {
  EXPECT_EQ(live_table_name(LiveTable::kArena), "arena");
  EXPECT_EQ(live_table_name(LiveTable::kHash), "hash");
}

}  // namespace
}  // namespace hawk
