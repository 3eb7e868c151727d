#include "symbolizer/address_ranges.h"

#include <dwarf.h>

#include <cstddef>

namespace hawk {
namespace {

/// More pieces than any compiler splits one function or unit into; a bound for damaged range lists.
constexpr std::size_t kMostRangesOfOneEntry = 1 << 20;

}  // namespace

void add_code(std::uint64_t low, std::uint64_t high, std::uint32_t value, IntervalIndex& index) {
  if (low != 0) index.add(low, high, value);
}

bool add_ranges(Dwarf_Die* entry, std::uint32_t value, IntervalIndex& index) {
  const std::size_t before = index.added_count();
  Dwarf_Addr base = 0;
  Dwarf_Addr low = 0;
  Dwarf_Addr high = 0;
  std::ptrdiff_t next = 0;
  for (std::size_t count = 0; count < kMostRangesOfOneEntry; ++count) {
    next = dwarf_ranges(entry, next, &base, &low, &high);
    if (next <= 0) break;
    add_code(low, high, value, index);
  }
  return index.added_count() > before;
}

}  // namespace hawk
