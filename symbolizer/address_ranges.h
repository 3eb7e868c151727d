#pragma once

#include <cstdint>

#include "symbolizer/interval_index.h"
#include "symbolizer/unit_reader.h"

namespace hawk {

/// Adds [low, high) to `index`, unless it begins at 0: there lies no code but a file's header, and linkers leave 0
/// where an address was of code that they discarded.
void add_code(std::uint64_t low, std::uint64_t high, std::uint32_t value, IntervalIndex& index);

/// Adds the addresses of `entry`, of the unit that `unit` reads, to `index` under `value`: DW_AT_ranges (through
/// .debug_ranges or .debug_rnglists), or DW_AT_low_pc with DW_AT_high_pc. Returns whether it has any.
bool add_ranges(const UnitReader& unit, const Entry& entry, std::uint32_t value, IntervalIndex& index);

}  // namespace hawk
