#include "userspace/tracer/memory_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "bpf/layout.h"
#include "bpf/live/arena_layout.h"
#include "bpf/regions.h"
#include "userspace/tracer/arena_memory.h"

namespace hawk {
namespace {

/// Where memory is bounded, room for this many frames per stack on average is set aside in any case. Whole stacks of
/// Debian's programs have 17 to 41 (tests/unwinding), those of clang 56.
constexpr std::uint64_t kFramesPerStack = 36;
/// Frames may have one part in so many of the memory that is left then; live blocks have the rest.
constexpr std::uint64_t kFramesShare = 8;
/// Room that is kept ahead: 4 MiB for each stripe. Two CPUs that do nothing but make new stacks of 68 frames take 13
/// million frames in a second; to make more room takes 20 ms, and was seen to take 70 where others had the CPUs.
constexpr std::uint64_t kSpareFramesPerStripe = 1U << 20;
/// More than this need not be kept ahead, unless kFramesPerStack are more: then those.
constexpr std::uint64_t kSpareFramesEnough = 2 * kSpareFramesPerStripe;
constexpr std::uint64_t kSegmentBytes = HAWK_SEGMENT_FRAMES * sizeof(__u32);
/// Distinct addresses of stacks: two for each, and 8192 at least for the few of the deepest.
constexpr std::uint32_t kLocationsPerStack = 2;
constexpr std::uint32_t kLocationsLeast = 1U << 13;
/// Stripes of the counters. More CPUs than this share stripes, which costs them contention but no exactness. Each
/// stripe is 4 MiB at the default size, and all of them count as our resident memory, because mapping an array maps
/// every page.
constexpr std::uint32_t kMaxStripes = 16;
/// Of the arena's blocks one in 200 at most goes to the hash map (arena_layout.h), and those of 16 MiB and more; this
/// is room for one in 128. Of few blocks it can be more, one in 90 of 12,000: for those there is kOverflowLeast.
constexpr std::uint32_t kBlocksPerOverflow = 128;
constexpr std::uint32_t kOverflowLeast = 1024;
constexpr std::uint32_t kHashBlocksByDefault = 1U << 20;
/// What an entry of live_blocks takes at most: 96 bytes for the element, the kernel's note whose it is, and one to two
/// buckets of 16 bytes (measured: 113 with one).
constexpr std::uint64_t kHashEntryBytes = 136;
/// The same, preallocated, of reserve_maps.
constexpr std::uint64_t kReserveEntryBytes = 112;
/// Where memory is bounded, so many blocks have room for one in reserve. Elsewhere all have.
constexpr std::uint32_t kBlocksPerReserved = 4;

/// Where memory is bounded, changes of mappings may wait in one part in so many of it, and in this much in any case.
constexpr std::uint64_t kRegionRingShare = 16;
constexpr std::uint64_t kRegionRingLeast = 1U << 18;

std::uint64_t whole_segments(std::uint64_t frames) {
  return (frames + HAWK_SEGMENT_FRAMES - 1) / HAWK_SEGMENT_FRAMES * HAWK_SEGMENT_FRAMES;
}

std::uint64_t bytes_without_blocks(const MemoryPlan& plan) {
  return std::uint64_t{plan.counter_stripes} * plan.stacks * sizeof(hawk_counters) +
         plan.stack_lives * sizeof(hawk_stack_lives) + plan.stacks * sizeof(hawk_stack_record) +
         plan.stack_index_entries * sizeof(__u64) + plan.frames * sizeof(__u32) + plan.locations * sizeof(__u64) +
         plan.region_ring_bytes;
}

std::uint32_t region_ring_bytes(const MemoryLimits& limits) {
  if (!limits.follows_regions) return 0;
  const std::uint64_t share = limits.max_memory_bytes.value_or(~std::uint64_t{0}) / kRegionRingShare;
  return static_cast<std::uint32_t>(
      std::bit_floor(std::clamp<std::uint64_t>(share, kRegionRingLeast, HAWK_REGION_RING_BYTES)));
}

Result<std::uint64_t> bytes_for_blocks(const MemoryLimits& limits, const MemoryPlan& plan, std::uint64_t least) {
  const std::uint64_t fixed = bytes_without_blocks(plan);
  if (!limits.max_memory_bytes) return ~std::uint64_t{0};
  if (*limits.max_memory_bytes >= fixed + least) return *limits.max_memory_bytes - fixed;
  return fail(ExitCode::kUsage,
              fmt::format("--max-memory: the tables of {} stacks and the smallest table of blocks take {} bytes",
                          plan.stacks - HAWK_FIRST_STACK, fixed + least),
              "raise --max-memory or lower --max-stacks");
}

/// As many as the deepest stacks need; or what is set aside for them, and an eighth of what is left beyond it.
void plan_frames(const MemoryLimits& limits, MemoryPlan& plan) {
  const std::uint64_t depth = limits.max_depth + limits.max_depth % 2;  // each takes an even number
  const std::uint64_t most = whole_segments(limits.max_stacks * depth);
  const std::uint64_t aside = whole_segments(limits.max_stacks * std::min(depth, kFramesPerStack));
  plan.frames = static_cast<std::uint32_t>(limits.max_memory_bytes ? aside : most);
  if (limits.max_memory_bytes) {
    const std::uint64_t fixed = bytes_without_blocks(plan);
    const std::uint64_t left = *limits.max_memory_bytes - std::min(*limits.max_memory_bytes, fixed);
    const std::uint64_t share = left / kFramesShare / kSegmentBytes * HAWK_SEGMENT_FRAMES;
    plan.frames = static_cast<std::uint32_t>(std::min(most, aside + share));
  }
  const std::uint64_t spare =
      std::min(std::max(aside, kSpareFramesEnough), plan.counter_stripes * kSpareFramesPerStripe);
  plan.spare_frames = static_cast<std::uint32_t>(std::min<std::uint64_t>(spare, plan.frames));
}

Result<void> plan_hash(const MemoryLimits& limits, MemoryPlan& plan) {
  constexpr std::uint64_t kBytes = kHashEntryBytes + kReserveEntryBytes / kBlocksPerReserved;
  const std::uint64_t bytes = HAWK_TRY(bytes_for_blocks(limits, plan, kHashEntryBytes + kReserveEntryBytes));
  plan.hash_blocks = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(bytes / kBytes, 1, limits.max_blocks.value_or(kHashBlocksByDefault)));
  plan.reserve_blocks =
      limits.max_memory_bytes ? std::max(1U, plan.hash_blocks / kBlocksPerReserved) : plan.hash_blocks;
  return {};
}

Result<void> plan_arena(const MemoryLimits& limits, MemoryPlan& plan) {
  const std::uint32_t blocks = limits.max_blocks.value_or(HAWK_MAX_BLOCKS);
  const std::uint32_t least_pages = ArenaMemory::pages_for(1);
  plan.hash_blocks = std::max(kOverflowLeast, blocks / kBlocksPerOverflow);
  const std::uint64_t bytes = HAWK_TRY(bytes_for_blocks(limits, plan, least_pages * HAWK_ARENA_PAGE_BYTES));
  plan.arena_pages = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(ArenaMemory::pages_for(blocks), bytes / HAWK_ARENA_PAGE_BYTES));
  // What overflows must stay within the bounds as well: one block in 128 of those that the pages hold.
  const std::uint64_t held = std::uint64_t{plan.arena_pages} * HAWK_PAGE_SLOTS;
  plan.hash_blocks =
      std::min(plan.hash_blocks, std::max(kOverflowLeast, static_cast<std::uint32_t>(held / kBlocksPerOverflow)));
  return {};
}

}  // namespace

Result<MemoryPlan> plan_memory(const MemoryLimits& limits, LiveTable table, std::uint32_t cpus) {
  MemoryPlan plan;
  plan.stacks = limits.max_stacks + HAWK_FIRST_STACK;
  plan.stack_lives = limits.counts_lives ? plan.stacks : 0;
  plan.region_ring_bytes = region_ring_bytes(limits);
  plan.cpus = cpus;
  plan.counter_stripes = std::min(kMaxStripes, std::bit_ceil(std::max(cpus, 1U)));
  // At most a third full: of a table that is half full, a few in 100,000 find no free entry near where they belong.
  plan.stack_index_entries = std::bit_ceil(3 * plan.stacks);
  plan.locations = std::max(kLocationsLeast, std::bit_ceil(kLocationsPerStack * limits.max_stacks));
  plan_frames(limits, plan);
  HAWK_TRY_VOID(table == LiveTable::kArena ? plan_arena(limits, plan) : plan_hash(limits, plan));
  return plan;
}

}  // namespace hawk
