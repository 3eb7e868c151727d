#include "userspace/report/stack_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "userspace/report/display_text.h"
#include "userspace/report/number_columns.h"
#include "userspace/report/period.h"
#include "userspace/report/stack_columns.h"

namespace hawk {
namespace {

constexpr std::size_t kNamesColumns = 22;  // beside the numbers so many columns are wanted for functions

/// What was counted in the time that rates are of, for each row; the last is that of the totals.
std::vector<Counters> counted_in(const Period& period, const std::vector<const StackRecord*>& stacks) {
  std::vector<Counters> counted;
  counted.reserve(stacks.size() + 1);
  for (const StackRecord* stack : stacks) {
    counted.push_back(difference(stack->counters, period.counters_before(stack->id)));
  }
  counted.push_back(difference(period.now.totals, period.previous == nullptr ? nullptr : &period.previous->totals));
  return counted;
}

NumberColumns columns_of(const TextPage& page, const Snapshot& snapshot,
                         const std::vector<const StackRecord*>& stacks) {
  const SortKey sort = page.options().selection.sort;
  const Period period(snapshot, page.options().previous);
  const std::uint64_t elapsed_ns = period.previous == nullptr ? snapshot.trace.duration_ns : period.elapsed_ns;
  const std::vector<Counters> counted = counted_in(period, stacks);
  // The last row is that of the totals.
  const auto counters = [&](std::size_t row) -> const Counters& {
    return row < stacks.size() ? stacks[row]->counters : snapshot.totals;
  };
  NumberColumns columns(stacks.size() + 1);
  columns.add({.title = "#", .keep = 11},
              [&](std::size_t row) { return row < stacks.size() ? fmt::format("{}", row + 1) : ""; });
  add_sorted_column(columns, sort, page.style(), counters, 0);
  columns.add({.title = "LIVE", .keep = 8, .sorted = sort == SortKey::kLive},
              [&](std::size_t row) { return page.bytes(counters(row).live_bytes()); });
  if (period.previous != nullptr) {
    columns.add({.title = "CHANGE", .keep = 7, .emphasizes_growth = true}, [&](std::size_t row) {
      return format_bytes_change(counted[row].freed_bytes, counted[row].allocated_bytes, page.style());
    });
  }
  columns.add({.title = "BLOCKS", .keep = 6, .sorted = sort == SortKey::kLiveCount},
              [&](std::size_t row) { return page.count(counters(row).live_count()); });
  columns.add({.title = "ALLOC B/s", .keep = 5},
              [&](std::size_t row) { return page.bytes(per_second(counted[row].allocated_bytes, elapsed_ns)); });
  columns.add({.title = "CALLS/s", .keep = 3},
              [&](std::size_t row) { return page.count(per_second(counted[row].allocated_count, elapsed_ns)); });
  columns.add({.title = "FREED", .keep = 2}, [&](std::size_t row) { return page.bytes(counters(row).freed_bytes); });
  columns.add({.title = "FREED %", .keep = 4},
              [&](std::size_t row) { return format_share(counters(row).freed_bytes, counters(row).allocated_bytes); });
  columns.drop(page.options().width == 0 ? std::string::npos : page.options().width, kNamesColumns);
  return columns;
}

/// What stands behind the numbers, for each function that decides on a stack.
class FunctionCells {
 public:
  /// So many columns there are for it; 0: any number.
  FunctionCells(const CallTable& calls, std::size_t columns)
      : calls_(calls), columns_(columns == 0 ? kMaxNameColumns : columns), cells_(calls.size()) {}

  void add_to(StyledLine& line, const StackRecord& stack) {
    const ListedFrame* deciding = calls_.deciding(stack);
    if (deciding == nullptr) {
      line.add(stack.id == kNoStack ? "(not recorded)" : "(no frames)");
      return;
    }
    if (deciding->source.function.empty()) {
      line.add(shorten_middle(stack_label(calls_.list(stack)), columns_));
      return;
    }
    Cell& cell = cells_[calls_.number_of(*deciding)];
    if (cell.name.empty()) cell = make(*deciding);
    line.add(cell.name);
    if (!cell.place.empty()) line.add(cell.place, Style::kDim);
  }

 private:
  struct Cell {
    std::string name;
    std::string place;  ///< where it fits, and is known
  };

  Cell make(const ListedFrame& frame) const {
    Cell cell{shorten_middle(frame.name, columns_), "  " + source_place(frame.source, 1)};
    if (cell.place.size() == 2 || display_width(cell.name) + display_width(cell.place) > columns_) cell.place.clear();
    return cell;
  }

  const CallTable& calls_;
  const std::size_t columns_;
  std::vector<Cell> cells_;  ///< by the call's number; empty until needed
};

}  // namespace

void put_stack_table(TextPage& page, const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                     const CallTable& calls) {
  const NumberColumns columns = columns_of(page, snapshot, stacks);
  StyledLine titles;
  columns.add_titles(titles);
  const std::size_t width = page.options().width;
  FunctionCells functions(calls, width == 0 ? 0 : std::max<std::size_t>(width - std::min(width, titles.width()), 1));
  page.put(titles.add("FUNCTION", Style::kDim));
  for (std::size_t row = 0; row < stacks.size() && page.go_on(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    functions.add_to(line, *stacks[row]);
    page.put(line);
  }
  StyledLine total;
  columns.add_cells(total, stacks.size());
  page.put(total.add(fmt::format("total of {}", format_stacks(snapshot.stacks.size(), page.style())), Style::kStrong));
}

}  // namespace hawk
