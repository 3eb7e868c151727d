#pragma once

#include <functional>
#include <span>
#include <vector>

#include "bpf/live/bucket.h"
#include "userspace/base/result.h"
#include "userspace/tables/drained.h"
#include "userspace/tracer/kernel_maps.h"

namespace hawk {

/// The live table.
struct LiveBlocks {
  std::vector<int> hash_fds = {};              ///< the map live_blocks and its reserve
  std::span<const hawk_live_page> arena = {};  ///< empty: the hash maps hold all
};

/// Whether the invariant holds: for each stack, allocated - freed is the sum over the live table, but for the blocks
/// that open realloc calls hold in hand, whose number and bytes are counted apart and must be exactly what is missing.
///
/// `drained` is a drain made after the probes were removed.
Result<bool> live_table_agrees(const LiveBlocks& blocks, const KernelMaps& maps, const Drained& drained);

/// Removes from a hash map the blocks of programs that the target had replaced when `current_epoch` was read, so that
/// they take no room from the current one's. Calls `dropped` with the address of each.
///
/// Safe while tracing, and whatever the target does meanwhile: a block is judged by the whole number of its program,
/// which may be newer than `current_epoch`, and once more when it is removed. Returns how many blocks of a newer
/// program were out of the table for a moment, in which their free may have been missed.
Result<std::uint64_t> drop_old_epochs(int hash_fd, std::uint32_t current_epoch,
                                      const std::function<void(std::uint64_t address)>& dropped);

}  // namespace hawk
