#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "userspace/base/result.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/kernel_maps.h"
#include "userspace/tracer/live_blocks.h"

namespace hawk {

/// Whether the invariant holds: for each stack, allocated - freed is the sum over the live table, except the blocks in
/// open realloc calls, whose number and bytes are counted separately and must equal the difference.
///
/// Of the program that a target runs; `counters` are those of a drain made after its probes were removed.
Result<bool> live_table_agrees(const LiveBlocks& blocks, const KernelMaps& maps, const hawk_target& target,
                               std::span<const StackCounters> counters);

/// Those of `programs` that have blocks in the live table.
Result<std::set<std::uint32_t>> programs_with_blocks(const LiveBlocks& blocks, const KernelMaps& maps,
                                                     const std::set<std::uint32_t>& programs);

/// Removes from a hash map the blocks of programs that have ended, to free their room. Calls `dropped` with the key of
/// each. Safe while tracing: the number of a program is not reused before it has no block.
Result<void> drop_blocks_of_ended(int hash_fd, const std::function<bool(std::uint32_t program)>& lives,
                                  const std::function<void(const hawk_block_key& key)>& dropped);

}  // namespace hawk
