#pragma once

#include <cstdint>
#include <optional>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/tracer/live_table.h"

namespace hawk {

/// What was asked for.
struct MemoryLimits {
  std::optional<std::uint32_t> max_blocks = {};        ///< live blocks; nullopt: the default of the table
  std::uint32_t max_stacks = 0;                        ///< distinct stacks
  std::uint32_t max_depth = HAWK_MAX_FRAMES;           ///< frames of a stack
  bool counts_lives = false;                           ///< of the blocks of each stack
  bool follows_regions = false;                        ///< changes of mappings are announced
  std::optional<std::uint64_t> max_memory_bytes = {};  ///< of the kernel's tables, at their fullest
};

/// How large the kernel's tables are made.
struct MemoryPlan {
  std::uint32_t stacks = 0;               ///< stack numbers, the reserved ones included
  std::uint32_t cpus = 0;                 ///< whose numbers there are
  std::uint32_t counter_stripes = 0;      ///< a power of two
  std::uint32_t stack_index_entries = 0;  ///< a power of two, at least twice `stacks`
  std::uint32_t frames = 0;               ///< that there may be room for; whole segments
  std::uint32_t spare_frames = 0;         ///< room that there is ahead of need, up to `frames`; whole segments
  std::uint32_t locations = 0;            ///< a power of two
  std::uint32_t hash_blocks = 0;          ///< entries of live_blocks
  std::uint32_t reserve_blocks = 0;       ///< entries of reserve_maps together; 0: there is none
  std::uint32_t stack_lives = 0;          ///< entries of stack_lives
  std::uint32_t region_ring_bytes = 0;    ///< of region_events; a power of two, 0: there is none
  std::uint32_t arena_pages = 0;          ///< that the live table may take; 0: there is no arena
};

/// Sizes for a machine whose CPUs have numbers below `cpus`. kUsage when max_memory_bytes is too small for anything.
Result<MemoryPlan> plan_memory(const MemoryLimits& limits, LiveTable table, std::uint32_t cpus);

}  // namespace hawk
