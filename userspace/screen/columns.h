#pragma once

#include <optional>
#include <vector>

#include "userspace/report/number_columns.h"
#include "userspace/screen/moment.h"
#include "userspace/screen/sort.h"

namespace hawk {

/// One stack of the list before it becomes text.
struct ListRow {
  const StackRecord* stack = nullptr;
  /// Its counters in the state before, all zero for a new stack; nullopt: there was no state before.
  std::optional<Counters> before;
};

/// The columns for `rows`: the sorted quantity when it is not among the usual ones, then live bytes, their change, live
/// blocks, bytes allocated per second, share of the sorted quantity in the whole.
NumberColumns list_columns(const std::vector<ListRow>& rows, const Moment& moment, ScreenSort sort);

}  // namespace hawk
