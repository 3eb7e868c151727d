#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
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

/// What was read of the lives of blocks, by the stacks that the kernel knows.
struct Lives {
  LiveAges ages;
  std::optional<std::vector<StackLives>> stacks = {};        ///< nullopt: not counted
  std::optional<std::vector<ThreadName>> thread_names = {};  ///< nullopt: stacks are not told apart by threads
};

/// The heap as the drains so far show it: stacks with their frames, the latest counters, the peak.
///
/// Invariant: the totals are the sum over the stacks of the current program. While the target runs, a drain's allocated
/// - freed over all stacks is no more than was live at one instant (Drain::read): the peak, the most of any drain, is a
/// lower bound of the true one. (The totals can be more: a stack that has more freed than allocated counts as empty.)
class HeapModel {
 public:
  /// Takes one drain. When the target has replaced its program (exec), what belonged to the old one is dropped. Returns
  /// the counters of the drain before, which nobody needs any more, for their memory.
  std::vector<StackCounters> update(Drained drained, const FrameResolver& resolve);

  /// Takes what is mapped, by stack: `mapped`, in order, and those of the stacks that it does not know yet. Of the same
  /// program as the last drain.
  void take_mappings(std::vector<MappedGroup> mapped, const std::vector<NewStack>& added, const FrameResolver& resolve);
  bool knows(StackId id) const;

  /// Takes what was read beside the last drain, by the stacks of that: it is part of snapshots until the next one.
  void take_lives(Lives lives);

  /// The heap part of a snapshot: totals, peak, losses, stacks. Target, trace and modules are the caller's. Stacks that
  /// differ in nothing but their thread are one.
  Snapshot snapshot(SpareStacks spare = {}) const;

  /// Whether the current program has been seen to allocate.
  bool has_allocated() const { return totals_.allocated_count != 0; }
  const Counters& totals() const { return totals_; }
  /// No more than was live at an instant during the last drain.
  std::uint64_t least_live_bytes() const { return least_live_bytes_; }
  /// At no instant between the last drain and the one before was more live.
  std::uint64_t most_live_bytes() const { return most_live_bytes_; }
  /// Keeps the state as of the last drain, as that of the peak.
  void keep_peak();
  /// As of the last keep_peak(): nothing is live before the first one.
  Snapshot snapshot_at_peak() const;
  std::uint64_t live_bytes() const { return totals_.live_bytes(); }
  std::uint64_t frees_of_untraced() const { return frees_of_untraced_; }
  const Losses& losses() const { return losses_; }
  /// As the last drain has read them.
  const std::vector<StackCounters>& counters() const { return counters_; }
  std::size_t stack_count() const { return stacks_.size(); }
  std::uint32_t exec_epoch() const { return exec_epoch_; }

 private:
  void start_epoch(std::uint32_t epoch);
  void add_stacks(const std::vector<NewStack>& added, const FrameResolver& resolve);
  void take_counters(std::vector<StackCounters>& counters);
  /// Calls `visit` with each stack that the last drain had, ascending by id, and its counters; not with the `first`
  /// ones.
  template <class Visitor>
  void for_each_stack(const Visitor& visit, std::size_t first = 0) const;
  std::size_t count_again(std::vector<StackRecord>& stacks) const;
  std::vector<StackRecord> counted_stacks(SpareStacks spare) const;
  const StackRecord* find(StackId id) const;
  std::vector<MappedStack> mapped_stacks() const;
  void note_thread(const StackRecord& stack, int tid);
  /// The stack that this one is in snapshots.
  StackId reported_as(StackId id) const;
  void merge_threads(Snapshot& snapshot) const;
  void put_lives(Snapshot& snapshot) const;
  void put_threads(Snapshot& snapshot) const;
  void merge_lives_of_threads(Snapshot& snapshot) const;

  std::uint32_t exec_epoch_ = 0;
  std::vector<StackRecord> stacks_;      ///< of the current program, without counters; ascending by id
  bool all_complete_ = true;             ///< all of these; kNoStack is not
  std::uint64_t table_ = 0;              ///< KnownOfStacks::table of these
  std::vector<StackCounters> counters_;  ///< of the last drain, of those of them that allocated; the same
  LocationTable locations_;
  std::optional<std::vector<MappedGroup>> mapped_;  ///< nullopt: not followed
  Counters totals_;
  std::uint64_t least_live_bytes_ = 0;
  std::uint64_t most_live_bytes_ = 0;
  std::uint64_t peak_live_bytes_ = 0;                  ///< the most that `least_live_bytes_` was
  std::uint64_t peak_live_bytes_most_ = 0;             ///< and the other
  std::uint64_t freed_bytes_before_ = 0;               ///< of the last drain
  std::optional<std::vector<StackCounters>> at_peak_;  ///< nullopt: not kept
  /// Of stacks that are of one thread alone.
  struct OfThread {
    StackId reported_as = kNoStack;
    int tid = 0;
  };
  std::unordered_map<StackId, OfThread> of_threads_;
  std::unordered_multimap<std::uint64_t, StackRecord> reported_;  ///< by a hash of their frames
  std::optional<Lives> lives_;
  std::uint64_t frees_of_untraced_ = 0;
  Losses losses_;
  UntracedChildren children_;
};

}  // namespace hawk
