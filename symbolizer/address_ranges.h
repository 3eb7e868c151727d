#pragma once

#include <elfutils/libdw.h>

#include <cstdint>

#include "symbolizer/interval_index.h"

namespace hawk {

/// Adds [low, high) to `index` under `value`, unless it starts at 0: what a linker has discarded is said to lie there.
void add_code(std::uint64_t low, std::uint64_t high, std::uint32_t value, IntervalIndex& index);

/// Adds the address ranges of `entry` (DW_AT_ranges, or DW_AT_low_pc with DW_AT_high_pc) to `index` under `value`.
/// Returns whether it has any.
bool add_ranges(Dwarf_Die* entry, std::uint32_t value, IntervalIndex& index);

}  // namespace hawk
