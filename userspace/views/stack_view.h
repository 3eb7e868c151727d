#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/report/symbolized_locations.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/call_pattern.h"
#include "userspace/views/suppressions.h"

namespace hawk {

/// What a report is narrowed down to, as pprof means it.
struct FrameFilter {
  std::optional<CallPattern> focus = {};   ///< only stacks with a call that matches
  std::optional<CallPattern> ignore = {};  ///< no stack with a call that matches
  std::optional<CallPattern> hide = {};    ///< matching calls are taken out of their stacks
  std::shared_ptr<const Suppressions> suppressions = {};

  bool is_empty() const { return !focus && !ignore && !hide && suppressions == nullptr; }
  /// What hides calls in a CallTable of `snapshot`; empty: nothing is hidden. The filter must outlive it.
  CallPredicate hides(const Snapshot& snapshot) const;
};

/// Some stacks, and what they hold together.
struct StackSum {
  std::size_t stacks = 0;
  Counters counters = {};

  void add(const StackRecord& stack) {
    ++stacks;
    counters += stack.counters;
  }
};

/// Which stacks of a snapshot a report is of, and what became of the others: `shown`, `left_out` and `suppressed` add
/// up to the snapshot's totals.
struct StackView {
  std::vector<const StackRecord*> stacks;  ///< in the snapshot's order
  StackSum shown;                          ///< `stacks`
  StackSum left_out;                       ///< by focus and ignore, and stacks of which every call is hidden
  StackSum suppressed;
  std::vector<StackSum> by_rule;  ///< of `suppressed`: by the first rule that matched
};

/// A stack is suppressed, whatever else it matches; what is left is focused, then ignored, then hidden. Asks
/// `symbolizer` for all stacks unless `filter` is empty.
StackView make_stack_view(const Snapshot& snapshot, Symbolizer& symbolizer, const FrameFilter& filter,
                          const LocationCountObserver& observer);

}  // namespace hawk
