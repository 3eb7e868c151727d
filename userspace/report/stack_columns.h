#pragma once

#include <cstddef>
#include <functional>

#include "userspace/report/number_columns.h"
#include "userspace/report/units.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/selection.h"

namespace hawk {

/// The counters of the stack in a row.
using RowCounters = std::function<const Counters&(std::size_t row)>;

/// Adds the column that rows are ordered by, where it is not one of those that every table of stacks has (live bytes,
/// live blocks).
void add_sorted_column(NumberColumns& columns, SortKey sort, NumberStyle style, const RowCounters& counters,
                       std::size_t min_width);

}  // namespace hawk
