#include "userspace/report/stack_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "userspace/report/display_text.h"
#include "userspace/report/number_columns.h"
#include "userspace/report/period.h"
#include "userspace/report/stack_columns.h"
#include "userspace/report/stack_differences.h"

namespace hawk {
namespace {

// The number of columns for functions next to the numbers: enough for the longest name, but not more.
constexpr std::size_t kMinNamesColumns = 22;
constexpr std::size_t kMaxNamesColumns = 36;
constexpr std::size_t kMostToldApart = 1000;  // rows; more are not compared by a reader
constexpr std::size_t kMaxDifferences = 2;    // calls that are named to distinguish a row

/// The counts during the time that rates refer to, for each row; the last is that of the totals.
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
  return columns;
}

/// The text after the numbers: the function that names a stack, and, if several have the same name, what distinguishes
/// them.
class FunctionCells {
 public:
  FunctionCells(const std::vector<const StackRecord*>& stacks, const CallTable& calls)
      : stacks_(stacks), calls_(calls), cells_(calls.size()), differences_(std::min(stacks.size(), kMostToldApart)) {}

  /// The widest of the names, without positions and differences.
  std::size_t widest_name() {
    std::size_t widest = 0;
    for (std::size_t row = 0; row < stacks_.size() && widest < kMaxNamesColumns; ++row) {
      widest = std::max(widest, display_width(cell(row).name));
    }
    return widest;
  }

  /// The number of available columns; 0: any number. To be called before add_to().
  void fit(std::size_t columns) {
    columns_ = columns == 0 ? kMaxNameColumns : columns;
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> equal;
    for (std::size_t row = 0; row < differences_.size(); ++row) {
      const Cell& made = cell(row);
      equal[{made.name, std::string(position_of(made))}].push_back(row);
    }
    for (const auto& [name, rows] : equal) {
      if (rows.size() > 1) distinguish(rows);
    }
  }

  void add_to(StyledLine& line, std::size_t row) {
    const Cell& made = cell(row);
    const std::string_view difference = row < differences_.size() ? differences_[row] : std::string_view();
    const std::size_t room = columns_ - std::min(columns_ / 2, display_width(difference));
    const std::string name = shorten_middle(made.name, room);
    line.add(name);
    if (!difference.empty()) {
      line.add(shorten_middle(difference, columns_ - display_width(name)), Style::kDim);
    } else if (const std::string_view position = position_of(made); !position.empty()) {
      line.add(std::string(kGap).append(position), Style::kDim);
    }
  }

 private:
  static constexpr std::string_view kGap = "  ";

  struct Cell {
    std::string name;
    std::string position;
  };

  const Cell& cell(std::size_t row) {
    const StackRecord& stack = *stacks_[row];
    const ListedFrame* const naming = calls_.naming(stack);
    if (naming == nullptr) {
      other_.name = stack.id == kNoStack ? "(not recorded)" : "(no frames)";
      return other_;
    }
    Cell& made = cells_[calls_.number_of(*naming)];
    if (!made.name.empty()) return made;
    if (naming->source.function.empty()) {  // it depends on the callers
      other_.name = stack_label(calls_.list(stack));
      return other_;
    }
    return made = {naming->name, source_position(naming->source, 1)};
  }

  /// The position of the function, if it fits next to its name.
  std::string_view position_of(const Cell& made) const {
    const bool fits = display_width(made.name) + kGap.size() + display_width(made.position) <= columns_;
    return fits ? std::string_view(made.position) : std::string_view();
  }

  void distinguish(const std::vector<std::size_t>& rows) {
    std::vector<FrameList> stacks;
    stacks.reserve(rows.size());
    for (const std::size_t row : rows) stacks.push_back(calls_.list(*stacks_[row]));
    const std::vector<std::string> found = distinguish_stacks(stacks, kMaxDifferences);
    for (std::size_t index = 0; index < rows.size(); ++index) differences_[rows[index]] = found[index];
  }

  const std::vector<const StackRecord*>& stacks_;
  const CallTable& calls_;
  std::size_t columns_ = kMaxNameColumns;
  std::vector<Cell> cells_;  ///< by the naming call's number; empty until needed
  Cell other_;               ///< of a row without such a call
  std::vector<std::string> differences_;
};

}  // namespace

void put_stack_table(TextPage& page, const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                     const CallTable& calls) {
  NumberColumns columns = columns_of(page, snapshot, stacks);
  FunctionCells functions(stacks, calls);
  const std::size_t width = page.options().width;
  if (width != 0) columns.drop(width, std::clamp(functions.widest_name(), kMinNamesColumns, kMaxNamesColumns));
  StyledLine titles;
  columns.add_titles(titles);
  functions.fit(width == 0 ? 0 : std::max<std::size_t>(width - std::min(width, titles.width()), 1));
  page.put(titles.add("FUNCTION", Style::kDim));
  for (std::size_t row = 0; row < stacks.size() && page.go_on(); ++row) {
    StyledLine line;
    columns.add_cells(line, row);
    functions.add_to(line, row);
    page.put(line);
  }
  StyledLine total;
  columns.add_cells(total, stacks.size());
  page.put(total.add(fmt::format("total of {}", format_stacks(snapshot.stacks.size(), page.style())), Style::kStrong));
}

}  // namespace hawk
