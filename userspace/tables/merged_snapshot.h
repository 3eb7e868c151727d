#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/tables/merged_numbers.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What of the numbers of a single process are its own: all.
TargetPart part_of(const Snapshot& process);

/// Makes one snapshot of those of several processes, again and again while they are traced: what is the same in several
/// of them (MergedNumbers) is one there, and has the same number each time.
class SnapshotMerger {
 public:
  /// Sums processes up, which there must be one of at least: of each its last snapshot, in the same order each time,
  /// new ones behind those before. What is live adds up, also that of processes which ended before others began.
  /// nullopt: a sum is larger than any number.
  ///
  /// `peak_live_bytes`: the most that the sum of the live bytes was, as far as is known. `most`: it was not more.
  std::optional<Snapshot> merge(const std::vector<const Snapshot*>& parts, std::uint64_t peak_live_bytes,
                                std::optional<std::uint64_t> most = std::nullopt);

  /// Of the last merge, for each process: its modules by their numbers there.
  const std::vector<std::vector<ModuleId>>& modules() const { return modules_; }
  const MergedNumbers& numbers() const { return numbers_; }

 private:
  MergedNumbers numbers_;
  std::vector<std::vector<ModuleId>> modules_;
};

}  // namespace hawk
