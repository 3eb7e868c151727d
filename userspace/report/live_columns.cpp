#include "userspace/report/live_columns.h"

#include <string>

#include "userspace/report/stack_columns.h"

namespace hawk {
namespace {

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

}  // namespace

NumberColumns live_columns(const std::vector<LiveRow>& rows, const Counters& totals, SortKey sort,
                           std::uint64_t elapsed_ns, NumberStyle style) {
  NumberColumns columns(rows.size());
  const std::uint64_t whole = sort_value(totals, sort);
  const auto counters = [&](std::size_t row) -> const Counters& { return rows[row].stack->counters; };
  add_sorted_column(columns, sort, style, counters, 11);
  columns.add({.title = "LIVE", .keep = 5, .min_width = 11, .sorted = sort == SortKey::kLive},
              [&](std::size_t row) { return format_bytes(counters(row).live_bytes(), style); });
  columns.add({.title = "CHANGE", .keep = 4, .min_width = 11, .emphasizes_growth = true},
              [&](std::size_t row) { return change_cell(rows[row], style); });
  columns.add({.title = "BLOCKS",
               .keep = sort == SortKey::kLiveCount ? 10 : 3,
               .min_width = 9,
               .sorted = sort == SortKey::kLiveCount},
              [&](std::size_t row) { return format_count(counters(row).live_count(), style); });
  columns.add({.title = "ALLOC/s", .keep = 1, .min_width = 11},
              [&](std::size_t row) { return rate_cell(rows[row], elapsed_ns, style); });
  columns.add({.title = "SHARE", .keep = 2, .min_width = 7},
              [&](std::size_t row) { return format_share(sort_value(counters(row), sort), whole); });
  return columns;
}

}  // namespace hawk
