#pragma once

#include <elfutils/libdw.h>

#include <cstdint>

#include "symbolizer/interval_index.h"
#include "userspace/base/byte_cursor.h"

namespace hawk {

/// What the entries of a split unit take their addresses from: mostly parts of the linked file, which holds the unit's
/// skeleton. libdw connects the two only where it has opened the split file by itself, by a name that the linked file
/// gives; it must not, so that these few sections are read here.
struct SplitAddresses {
  const std::uint8_t* unit_end = nullptr;  ///< end of the split unit, an address as Dwarf_Die::addr is one
  Bytes addresses{};                       ///< .debug_addr, from the unit's base on
  Bytes pairs{};                           ///< .debug_ranges, from the unit's base on: range lists up to version 4
  Bytes range_lists{};    ///< the unit's part of .debug_rnglists.dwo, in the split file: since version 5
  std::uint64_t low = 0;  ///< first address of the unit: what range lists start from
  std::uint8_t address_bytes = 8;
  std::uint8_t offset_bytes = 4;
};

/// As add_ranges(), for an entry of a split unit.
bool add_split_ranges(Dwarf_Die* entry, const SplitAddresses& unit, std::uint32_t value, IntervalIndex& index);

}  // namespace hawk
