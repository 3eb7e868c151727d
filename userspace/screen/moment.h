#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// The stack of `snapshot` that `id` names; nullptr where it has none such.
inline const StackRecord* find_stack(const Snapshot& snapshot, StackId id) {
  const auto found = std::lower_bound(snapshot.stacks.begin(), snapshot.stacks.end(), id,
                                      [](const StackRecord& stack, StackId wanted) { return stack.id < wanted; });
  return found != snapshot.stacks.end() && found->id == id ? &*found : nullptr;
}

/// The state that the screen shows, and the one shown before: changes and rates are those between the two.
struct Moment {
  const Snapshot& now;
  const Snapshot* previous;      ///< nullptr at first, and after the target has replaced its program
  std::uint64_t elapsed_ns = 0;  ///< between the two; 0 without `previous`
  NumberStyle style = NumberStyle::kReadable;

  Moment(const Snapshot& current, const Snapshot* before, NumberStyle numbers)
      : now(current),
        previous(before != nullptr && before->trace.exec_count == current.trace.exec_count ? before : nullptr),
        style(numbers) {
    if (previous != nullptr && current.trace.duration_ns > previous->trace.duration_ns) {
      elapsed_ns = current.trace.duration_ns - previous->trace.duration_ns;
    }
  }

  /// The counters of `stack` in the state before; nullptr where it had not been seen.
  const Counters* counters_before(StackId stack) const {
    const StackRecord* const found = previous == nullptr ? nullptr : find_stack(*previous, stack);
    return found == nullptr ? nullptr : &found->counters;
  }
  std::string bytes(std::uint64_t value) const { return format_bytes(value, style); }
  std::string count(std::uint64_t value) const { return format_count(value, style); }
  std::string blocks(std::uint64_t value) const { return format_blocks(value, style); }
};

}  // namespace hawk
