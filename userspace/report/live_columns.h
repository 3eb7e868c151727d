#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/report/number_columns.h"
#include "userspace/report/units.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// One stack of the live view before it becomes text.
struct LiveRow {
  const StackRecord* stack = nullptr;
  /// Its counters at the refresh before, all zero for a new stack; nullopt: there was no refresh before.
  std::optional<Counters> before;
};

/// The columns for `rows`: the sorted quantity when it is not among the usual ones, then live bytes, their change, live
/// blocks, bytes allocated per second (over `elapsed_ns`), share of the sorted quantity in `totals`.
NumberColumns live_columns(const std::vector<LiveRow>& rows, const Counters& totals, SortKey sort,
                           std::uint64_t elapsed_ns, NumberStyle style);

}  // namespace hawk
