#pragma once

#include <span>
#include <vector>

#include "bpf/live_bucket.h"
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

/// Removes the blocks of programs that the target has replaced, so that they take no room from the current one's.
/// Safe while tracing: programs use the keys of the current epoch only.
Result<void> drop_old_epochs(const std::vector<int>& hash_fds, std::uint32_t current_epoch);

}  // namespace hawk
