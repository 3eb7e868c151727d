#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "userspace/export/exported_stacks.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// A call in comparable form: addresses differ from run to run, and from build to build.
struct ComparedCall {
  std::string function;  ///< of a call without one: module and offset
  std::string module;    ///< the file's name without its directory; empty: in no file
  bool operator==(const ComparedCall&) const = default;
  bool operator<(const ComparedCall& other) const {
    return std::tie(function, module) < std::tie(other.function, other.module);
  }
};

/// The numbers of all stacks with the same calls, before and after.
struct StackChange {
  std::vector<ComparedCall> calls;  ///< from the caller of the allocator outwards
  Counters before;                  ///< zeros: there was none
  Counters after;
};

/// The difference of two snapshots, stack by stack.
struct SnapshotDiff {
  const Snapshot& before;
  const Snapshot& after;
  std::vector<StackChange> changes;  ///< those that are shown, the largest change first
  std::size_t changed = 0;           ///< stacks that have changed, shown or not
  SortKey sort = SortKey::kLive;
  FrameFilter filter = {};        ///< what both are narrowed down by
  Counters compared_before = {};  ///< what is left of the totals then
  Counters compared_after = {};
};

/// The comparable form of `call` in one of `stacks`.
ComparedCall compared_call(const ExportedStacks& stacks, const ListedFrame& call);

/// How much larger `after` is, modulo 2^64: as signed, the change.
std::int64_t change_of(std::uint64_t before, std::uint64_t after);

/// Compares by the names of functions and modules. Shown are stacks whose number by `selection.sort` has changed, the
/// first `top` (0: all) of those that have changed by `min_size_bytes` or more. Both must be of all stacks
/// (Selection::top 0), of those that `filter` leaves, and their snapshots must outlive what is returned.
SnapshotDiff diff_of(const ExportedStacks& before, const ExportedStacks& after, const Selection& selection,
                     const FrameFilter& filter = {});

}  // namespace hawk
