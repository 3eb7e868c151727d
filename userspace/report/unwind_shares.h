#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/report/quantity.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Some stacks, and what they hold together.
struct StackGroup {
  std::uint64_t stacks = 0;
  Counters counters;

  void add(const StackRecord& stack) {
    ++stacks;
    counters += stack.counters;
  }
  bool operator==(const StackGroup&) const = default;
};

/// The quality of the stacks of a snapshot. Every stack is in one group of `by_quality`, or in `not_recorded`.
struct UnwindShares {
  std::array<StackGroup, HAWK_STACK_TRUNCATED + 1> by_quality;  ///< by enum hawk_stack_quality
  std::array<StackGroup, HAWK_END_COUNT> by_end;                ///< by hawk_end; only stacks that are not complete
  StackGroup not_recorded;                                      ///< blocks without a stack (kNoStack)
};

UnwindShares unwind_shares(const Snapshot& snapshot);

/// Why some stacks are not complete.
struct UnwindCause {
  enum hawk_stack_quality quality = HAWK_STACK_TRUNCATED;  ///< of the stacks; never complete
  /// Where the walk could not continue by a rule. For truncated stacks that is their end; for guessed ones it is
  /// NO_TABLE or NO_CODE according to the frame's file, otherwise GAP.
  hawk_end end = HAWK_END_GAP;
  std::optional<ModuleId> module;  ///< the file concerned; nullopt: none, or not known
  StackGroup group;
};

/// The causes, those with the most bytes of `quantity` first. None with --unwind fp: guesses were requested, and they
/// end at the depth limit or at the end of the chain. Takes time only for stacks that are not complete.
std::vector<UnwindCause> unwind_causes(const Snapshot& snapshot, Quantity quantity);

}  // namespace hawk
