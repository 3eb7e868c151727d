#include "userspace/report/stack_columns.h"

namespace hawk {

void add_sorted_column(NumberColumns& columns, SortKey sort, NumberStyle style, const RowCounters& counters,
                       std::size_t min_width) {
  constexpr int kKeep = 10;
  if (sort == SortKey::kAllocated) {
    columns.add({.title = "ALLOCATED", .keep = kKeep, .min_width = min_width, .sorted = true},
                [&](std::size_t row) { return format_bytes(counters(row).allocated_bytes, style); });
  } else if (sort == SortKey::kAllocatedCount) {
    columns.add({.title = "ALLOCATIONS", .keep = kKeep, .min_width = min_width, .sorted = true},
                [&](std::size_t row) { return format_count(counters(row).allocated_count, style); });
  } else if (sort == SortKey::kFreedCount) {
    columns.add({.title = "FREES", .keep = kKeep, .min_width = min_width, .sorted = true},
                [&](std::size_t row) { return format_count(counters(row).freed_count, style); });
  }
}

}  // namespace hawk
