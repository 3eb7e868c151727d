#pragma once

#include <algorithm>
#include <cstdint>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// The stack of `snapshot` that `id` names; nullptr where it has none such.
inline const StackRecord* find_stack(const Snapshot& snapshot, StackId id) {
  const auto found = std::lower_bound(snapshot.stacks.begin(), snapshot.stacks.end(), id,
                                      [](const StackRecord& stack, StackId wanted) { return stack.id < wanted; });
  return found != snapshot.stacks.end() && found->id == id ? &*found : nullptr;
}

/// The time that changes and rates refer to: between the previous state and this one.
struct Period {
  const Snapshot& now;
  const Snapshot* previous;      ///< nullptr at first, and after the target has replaced its program
  std::uint64_t elapsed_ns = 0;  ///< between the two; 0 without `previous`

  Period(const Snapshot& current, const Snapshot* before)
      : now(current),
        previous(before != nullptr && before->trace.exec_count == current.trace.exec_count ? before : nullptr) {
    if (previous != nullptr && current.trace.duration_ns > previous->trace.duration_ns) {
      elapsed_ns = current.trace.duration_ns - previous->trace.duration_ns;
    }
  }

  /// The counters of `stack` in the previous state; nullptr if it had not been seen.
  const Counters* counters_before(StackId stack) const {
    const StackRecord* const found = previous == nullptr ? nullptr : find_stack(*previous, stack);
    return found == nullptr ? nullptr : &found->counters;
  }
};

/// The counts between the two states. All counters only grow.
inline Counters difference(const Counters& now, const Counters* before) {
  if (before == nullptr) return now;
  return {now.allocated_bytes - before->allocated_bytes, now.allocated_count - before->allocated_count,
          now.freed_bytes - before->freed_bytes, now.freed_count - before->freed_count};
}

}  // namespace hawk
