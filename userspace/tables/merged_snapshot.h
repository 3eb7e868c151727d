#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Several processes as one.
struct MergedSnapshot {
  Snapshot snapshot;
  std::vector<std::vector<ModuleId>> modules;  ///< of each process: its modules by their numbers there
};

/// Sums processes up, which there must be one of at least. Modules of one path and build id are one, as are locations
/// at one offset of a module and stacks of the same locations, whichever processes they are of; the address of a
/// location, and the target of a stack, are those of the first. What is live adds up, also that of processes which
/// ended before others began. nullopt: a sum is larger than any number.
///
/// `peak_live_bytes`: the most that the sum of the live bytes was, as far as is known.
std::optional<MergedSnapshot> merge_snapshots(const std::vector<const Snapshot*>& parts, std::uint64_t peak_live_bytes);

}  // namespace hawk
