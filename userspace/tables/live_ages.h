#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/tables/counters.h"

namespace hawk {

struct StackRecord;

/// Live blocks of one stack that were allocated in the same interval.
struct AgedBlocks {
  StackId stack = kNoStack;
  TargetId target{};
  std::uint64_t born_ms = 0;  ///< by the trace's clock, when the interval began: they are not older than that
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;

  Counters counters() const { return {.allocated_bytes = bytes, .allocated_count = count}; }
  bool operator==(const AgedBlocks&) const = default;
};

/// When the blocks that live were allocated.
struct LiveAges {
  static constexpr std::uint32_t kExactAges = 64;

  std::uint64_t now_ms = 0;             ///< the trace's clock, when the table of live blocks was read
  std::vector<AgedBlocks> blocks = {};  ///< ascending by stack, then by target, then by birth
  std::vector<std::uint64_t> marks_ms =
      {};  ///< ascending: each begins a generation; those before the first are generation 0
  /// So many bits of an age are known, from its highest on (AgeSums); births are the earliest that they may be.
  std::uint32_t age_bits = kExactAges;

  std::uint64_t age_ms(const AgedBlocks& aged) const { return now_ms > aged.born_ms ? now_ms - aged.born_ms : 0; }
  /// The generation of blocks that were born then.
  std::size_t generation_of(std::uint64_t born_ms) const;
  bool operator==(const LiveAges&) const = default;
};

/// Which live blocks a report is of, by when they were allocated.
struct AgeWindow {
  std::optional<std::uint64_t> min_age_ms = {};
  std::optional<std::uint64_t> max_age_ms = {};
  std::optional<std::uint64_t> generation = {};

  bool is_empty() const { return !min_age_ms && !max_age_ms && !generation; }
  bool has(const LiveAges& ages, const AgedBlocks& aged) const;
  /// Births at which it begins or ends, if the clock says this now.
  std::vector<std::uint64_t> cuts_ms(std::uint64_t now_ms) const;
  bool operator==(const AgeWindow&) const = default;
};

/// What has become of a state of the heap from which all but some live blocks were taken.
struct AgeNarrowing {
  AgeWindow window;
  Counters whole;  ///< the totals before
  bool operator==(const AgeNarrowing&) const = default;
};

/// The table is read after the counters: while the target runs there may be younger blocks in it. Takes as many of the
/// youngest away as a stack has more than its counters say. `stacks`: ascending by id, of one target.
void bound_ages(LiveAges& ages, const std::vector<StackRecord>& stacks);

}  // namespace hawk
