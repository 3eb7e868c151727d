#include "userspace/report/live_columns.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "userspace/report/display_text.h"
#include "userspace/report/quantity.h"

namespace hawk {
namespace {

using Cell = std::function<std::string(const LiveRow&)>;

constexpr std::size_t kGap = 2;

class ColumnMaker {
 public:
  explicit ColumnMaker(const std::vector<LiveRow>& rows) : rows_(rows) {}

  LiveColumn& add(std::string title, int keep, std::size_t min_width, bool sorted, const Cell& cell) {
    LiveColumn column;
    column.title = std::move(title) + (sorted ? "▼" : "");
    column.sorted = sorted;
    column.keep = keep;
    column.width = std::max(min_width, display_width(column.title));
    for (const LiveRow& row : rows_) {
      column.cells.push_back(cell(row));
      column.width = std::max(column.width, display_width(column.cells.back()));
    }
    columns_.push_back(std::move(column));
    return columns_.back();
  }

  std::vector<LiveColumn> take() { return std::move(columns_); }

 private:
  const std::vector<LiveRow>& rows_;
  std::vector<LiveColumn> columns_;
};

std::string change_cell(const LiveRow& row, NumberStyle style) {
  const std::uint64_t now = row.stack->counters.live_bytes();
  // Nothing where nothing moved: what grows must stand out.
  if (!row.before || row.before->live_bytes() == now) return {};
  return format_bytes_change(row.before->live_bytes(), now, style);
}

std::string rate_cell(const LiveRow& row, std::uint64_t elapsed_ns, NumberStyle style) {
  if (!row.before || elapsed_ns == 0) return {};
  const std::uint64_t allocated = row.stack->counters.allocated_bytes;
  if (allocated <= row.before->allocated_bytes) return {};
  return format_bytes(per_second(allocated - row.before->allocated_bytes, elapsed_ns), style);
}

void add_sorted_column(ColumnMaker& maker, SortKey sort, NumberStyle style) {
  if (sort == SortKey::kAllocated) {
    maker.add("ALLOCATED", 10, 11, true,
              [&](const LiveRow& row) { return format_bytes(row.stack->counters.allocated_bytes, style); });
  } else if (sort == SortKey::kAllocatedCount) {
    maker.add("ALLOCATIONS", 10, 9, true,
              [&](const LiveRow& row) { return format_count(row.stack->counters.allocated_count, style); });
  } else if (sort == SortKey::kFreedCount) {
    maker.add("FREES", 10, 9, true,
              [&](const LiveRow& row) { return format_count(row.stack->counters.freed_count, style); });
  }
}

}  // namespace

std::vector<LiveColumn> live_columns(const std::vector<LiveRow>& rows, const Counters& totals, SortKey sort,
                                     std::uint64_t elapsed_ns, NumberStyle style) {
  ColumnMaker maker(rows);
  const std::uint64_t whole = sort_value(totals, sort);
  const int blocks_keep = sort == SortKey::kLiveCount ? 10 : 3;
  add_sorted_column(maker, sort, style);
  maker.add("LIVE", 5, 11, sort == SortKey::kLive,
            [&](const LiveRow& row) { return format_bytes(row.stack->counters.live_bytes(), style); });
  maker.add("CHANGE", 4, 11, false, [&](const LiveRow& row) { return change_cell(row, style); }).emphasized = true;
  maker.add("BLOCKS", blocks_keep, 9, sort == SortKey::kLiveCount,
            [&](const LiveRow& row) { return format_count(row.stack->counters.live_count(), style); });
  maker.add("ALLOC/s", 1, 11, false, [&](const LiveRow& row) { return rate_cell(row, elapsed_ns, style); });
  maker.add("SHARE", 2, 7, false,
            [&](const LiveRow& row) { return format_share(sort_value(row.stack->counters, sort), whole); });
  return maker.take();
}

void drop_live_columns(std::vector<LiveColumn>& live, std::size_t columns, std::size_t names_columns) {
  const auto used = [&] {
    std::size_t sum = names_columns;
    for (const LiveColumn& column : live) sum += column.width + kGap;
    return sum;
  };
  while (live.size() > 1 && used() > columns) {
    live.erase(std::min_element(live.begin(), live.end(),
                                [](const LiveColumn& a, const LiveColumn& b) { return a.keep < b.keep; }));
  }
}

void add_live_cells(StyledLine& line, const std::vector<LiveColumn>& live, std::optional<std::size_t> row) {
  const std::string gap(kGap, ' ');
  for (const LiveColumn& column : live) {
    const bool strong = row ? column.emphasized && column.cells[*row].starts_with('+') : column.sorted;
    const Style plain = row ? Style::kPlain : Style::kDim;
    line.add(align_right(row ? column.cells[*row] : column.title, column.width), strong ? Style::kStrong : plain);
    line.add(gap);
  }
}

}  // namespace hawk
