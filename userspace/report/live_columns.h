#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/report/styled_line.h"
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

/// A column of numbers.
struct LiveColumn {
  std::string title;
  std::vector<std::string> cells;  ///< one per row
  bool sorted = false;             ///< rows are ordered by it
  bool emphasized = false;         ///< what changed
  int keep = 0;                    ///< when the terminal is narrow, the columns with the smallest value go first
  std::size_t width = 0;           ///< widest cell or title, and never less than what keeps columns from jumping about
};

/// The columns for `rows`: the sorted quantity when it is not among the usual ones, then live bytes, their change, live
/// blocks, bytes allocated per second (over `elapsed_ns`), share of the sorted quantity in `totals`. Columns are
/// dropped until `names_columns` columns are left beside them on a line of `columns`.
std::vector<LiveColumn> live_columns(const std::vector<LiveRow>& rows, const Counters& totals, SortKey sort,
                                     std::uint64_t elapsed_ns, NumberStyle style);
void drop_live_columns(std::vector<LiveColumn>& live, std::size_t columns, std::size_t names_columns);

/// Appends the titles (`row` nullopt) or the cells of one row, each followed by two spaces.
void add_live_cells(StyledLine& line, const std::vector<LiveColumn>& live, std::optional<std::size_t> row);

}  // namespace hawk
