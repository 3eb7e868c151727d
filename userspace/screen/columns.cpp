#include "userspace/screen/columns.h"

#include <string>

#include "userspace/report/stack_columns.h"

namespace hawk {
namespace {

constexpr int kSortedKeep = 10;  // the sorted column is the last to go
constexpr std::size_t kBytesWidth = 11;

std::string change_cell(const ListRow& row, const Moment& moment) {
  const std::uint64_t now = row.stack->counters.live_bytes();
  // Nothing where nothing moved: what grows must stand out.
  if (!row.before || row.before->live_bytes() == now) return {};
  return format_bytes_change(row.before->live_bytes(), now, moment.style);
}

std::string rate_cell(const ListRow& row, const Moment& moment) {
  if (!row.before || moment.elapsed_ns == 0) return {};
  const std::uint64_t allocated = row.stack->counters.allocated_bytes;
  if (allocated <= row.before->allocated_bytes) return {};
  return moment.bytes(per_second(allocated - row.before->allocated_bytes, moment.elapsed_ns));
}

/// The option that orders by what is not shown unless it is sorted by.
SortKey sort_key(ScreenSort sort) {
  if (sort == ScreenSort::kAllocated) return SortKey::kAllocated;
  if (sort == ScreenSort::kAllocations) return SortKey::kAllocatedCount;
  return sort == ScreenSort::kFrees ? SortKey::kFreedCount : SortKey::kLive;
}

/// The share of what is sorted by, where that is something of which a whole exists; else of the live bytes.
std::string share_cell(const ListRow& row, const Moment& moment, ScreenSort sort) {
  const bool has_whole = sort == ScreenSort::kBlocks || sort == ScreenSort::kAllocated ||
                         sort == ScreenSort::kAllocations || sort == ScreenSort::kFrees;
  const ScreenSort of = has_whole ? sort : ScreenSort::kLive;
  return format_share(sort_value(row.stack->counters, nullptr, of), sort_value(moment.now.totals, nullptr, of));
}

}  // namespace

NumberColumns list_columns(const std::vector<ListRow>& rows, const Moment& moment, ScreenSort sort) {
  NumberColumns columns(rows.size());
  const auto counters = [&](std::size_t row) -> const Counters& { return rows[row].stack->counters; };
  const auto add = [&](ScreenSort by, int keep, std::size_t min_width, const auto& cell) {
    columns.add({.title = std::string(sort_choice(by).title),
                 .keep = by == sort ? kSortedKeep : keep,
                 .min_width = min_width,
                 .sorted = by == sort,
                 .emphasizes_growth = by == ScreenSort::kChange},
                cell);
  };
  add_sorted_column(columns, sort_key(sort), moment.style, counters, kBytesWidth);
  add(ScreenSort::kLive, 5, kBytesWidth, [&](std::size_t row) { return moment.bytes(counters(row).live_bytes()); });
  add(ScreenSort::kChange, 4, kBytesWidth, [&](std::size_t row) { return change_cell(rows[row], moment); });
  add(ScreenSort::kBlocks, 3, 9, [&](std::size_t row) { return moment.count(counters(row).live_count()); });
  add(ScreenSort::kRate, 1, kBytesWidth, [&](std::size_t row) { return rate_cell(rows[row], moment); });
  columns.add({.title = "SHARE", .keep = 2, .min_width = 7},
              [&](std::size_t row) { return share_cell(rows[row], moment, sort); });
  return columns;
}

}  // namespace hawk
