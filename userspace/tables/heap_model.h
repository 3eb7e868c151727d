#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "userspace/tables/drained.h"
#include "userspace/tables/location_table.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Finds the module in which an address lies. Called when a stack is new, once for each address that the new stacks of
/// a drain have (twice where it is both a return address and that of an interrupted instruction), so that what is
/// mapped there later does not matter.
using FrameResolver = std::function<Location(std::uint64_t address)>;

/// What was mapped through a stack, of one kind and origin.
struct MappedGroup {
  StackId stack = kNoStack;
  RegionKind kind = RegionKind::kAnonymous;
  RegionOrigin origin = RegionOrigin::kProgram;
  RegionCounters counters;
};

/// The heap as the drains so far show it: stacks with their frames, the latest counters, the peak.
///
/// Invariant: the totals are the sum over the stacks of the current program; peak >= live. While the target runs, no
/// more is ever called live than was at one instant (Drain::read), so that the peak, the most of any drain, is a lower
/// bound of the true one.
class HeapModel {
 public:
  /// Takes one drain. When the target has replaced its program (exec), what belonged to the old one is dropped.
  void update(const Drained& drained, const FrameResolver& resolve);

  /// Takes what is mapped, by stack: `mapped`, in order, and those of the stacks that it does not know yet. Of the same
  /// program as the last drain.
  void take_mappings(std::vector<MappedGroup> mapped, const std::vector<NewStack>& added, const FrameResolver& resolve);
  bool knows(StackId id) const;

  /// The heap part of a snapshot: totals, peak, losses, stacks. Target, trace and modules are the caller's.
  Snapshot snapshot() const;

  /// Whether the current program has been seen to allocate.
  bool has_allocated() const { return totals_.allocated_count != 0; }
  const Counters& totals() const { return totals_; }
  std::uint64_t live_bytes() const { return totals_.live_bytes(); }
  std::uint64_t frees_of_untraced() const { return frees_of_untraced_; }
  const Losses& losses() const { return losses_; }
  std::size_t stack_count() const { return stacks_.size(); }
  std::uint32_t exec_epoch() const { return exec_epoch_; }

 private:
  void start_epoch(std::uint32_t epoch);
  void add_stacks(const std::vector<NewStack>& added, const FrameResolver& resolve);
  StackRecord* find(StackId id);
  const StackRecord* find(StackId id) const;
  std::vector<MappedStack> mapped_stacks() const;

  std::uint32_t exec_epoch_ = 0;
  std::vector<StackRecord> stacks_;  ///< of the current program; ascending by id, as drains give them
  LocationTable locations_;
  std::optional<std::vector<MappedGroup>> mapped_;  ///< nullopt: not followed
  Counters totals_;
  std::uint64_t peak_live_bytes_ = 0;
  std::uint64_t frees_of_untraced_ = 0;
  Losses losses_;
  UntracedChildren children_;
};

}  // namespace hawk
