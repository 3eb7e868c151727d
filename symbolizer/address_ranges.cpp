#include "symbolizer/address_ranges.h"

#include <dwarf.h>

#include <optional>

namespace hawk {
namespace {

/// More pieces than any compiler splits one function or unit into; a bound for damaged range lists.
constexpr std::size_t kMostRangesOfOneEntry = 1 << 20;

/// .debug_ranges: pairs of offsets from the unit's first address (DWARF 4, section 2.17.3).
void add_pairs(const UnitReader& unit, std::uint64_t offset, std::uint32_t value, IntervalIndex& index) {
  const std::uint8_t bytes = unit.header().encoding.address_bytes;
  const std::uint64_t base_mark = bytes == 8 ? UINT64_MAX : UINT32_MAX;
  std::uint64_t base = unit.base_address();
  ByteCursor cursor(part_of(unit.sections().ranges, offset));
  for (std::size_t count = 0; count < kMostRangesOfOneEntry; ++count) {
    const std::uint64_t low = cursor.number(bytes);
    const std::uint64_t high = cursor.number(bytes);
    if (!cursor.ok() || (low == 0 && high == 0)) return;
    if (low == base_mark) {
      base = high;
    } else {
      add_code(base + low, base + high, value, index);
    }
  }
}

/// One entry of .debug_rnglists (DWARF 5, section 2.17.3). False at the end of the list.
bool add_coded(const UnitReader& unit, ByteCursor& cursor, std::uint64_t& base, std::uint32_t value,
               IntervalIndex& index) {
  const std::uint8_t bytes = unit.header().encoding.address_bytes;
  const auto indexed = [&] { return unit.indexed_address(cursor.uleb128()).value_or(0); };
  const auto add = [&](std::uint64_t low, std::uint64_t high) {
    if (cursor.ok()) add_code(low, high, value, index);
  };
  std::uint64_t low = 0;
  switch (cursor.u8()) {
    case DW_RLE_base_addressx:
      base = indexed();
      break;
    case DW_RLE_startx_endx:
      low = indexed();
      add(low, indexed());
      break;
    case DW_RLE_startx_length:
      low = indexed();
      add(low, low + cursor.uleb128());
      break;
    case DW_RLE_offset_pair:
      low = cursor.uleb128();
      add(base + low, base + cursor.uleb128());
      break;
    case DW_RLE_base_address:
      base = cursor.number(bytes);
      break;
    case DW_RLE_start_end:
      low = cursor.number(bytes);
      add(low, cursor.number(bytes));
      break;
    case DW_RLE_start_length:
      low = cursor.number(bytes);
      add(low, low + cursor.uleb128());
      break;
    default:  // the end of the list, or of the section
      return false;
  }
  return cursor.ok();
}

void add_list(const UnitReader& unit, std::uint64_t offset, std::uint32_t value, IntervalIndex& index) {
  std::uint64_t base = unit.base_address();
  ByteCursor cursor(part_of(unit.sections().rnglists, offset));
  for (std::size_t count = 0; count < kMostRangesOfOneEntry; ++count) {
    if (!add_coded(unit, cursor, base, value, index)) return;
  }
}

/// Where the list begins that an attribute gives, in the section that the unit's version has them in.
std::optional<std::uint64_t> list_offset(const UnitReader& unit, const Entry& entry) {
  const std::uint64_t value = entry.value(Slot::kRanges);
  if (entry.form(Slot::kRanges) != DW_FORM_rnglistx) return value;
  const Entry& own = unit.own_entry();
  const std::size_t bytes = unit.header().encoding.offset_bytes;
  if (!own.has(Slot::kRnglistsBase) || value > UINT32_MAX) return std::nullopt;
  const std::uint64_t base = own.value(Slot::kRnglistsBase);
  ByteCursor cursor(part_of(unit.sections().rnglists, base));
  cursor.skip(value * bytes);
  const std::uint64_t offset = cursor.number(bytes);
  return cursor.ok() ? std::optional(base + offset) : std::nullopt;
}

}  // namespace

void add_code(std::uint64_t low, std::uint64_t high, std::uint32_t value, IntervalIndex& index) {
  if (low != 0) index.add(low, high, value);
}

bool add_ranges(const UnitReader& unit, const Entry& entry, std::uint32_t value, IntervalIndex& index) {
  const std::size_t before = index.added_count();
  if (entry.has(Slot::kHighPc)) {
    const std::optional<std::uint64_t> low = unit.address(entry, Slot::kLowPc);
    if (!low) return false;
    // A constant is a length (since version 4), an address an address.
    const std::uint64_t high = unit.address(entry, Slot::kHighPc).value_or(*low + entry.value(Slot::kHighPc));
    add_code(*low, high, value, index);
  } else if (entry.has(Slot::kRanges)) {
    const std::optional<std::uint64_t> offset = list_offset(unit, entry);
    if (!offset) return false;
    if (unit.header().encoding.version >= 5) {
      add_list(unit, *offset, value, index);
    } else {
      add_pairs(unit, *offset, value, index);
    }
  }
  return index.added_count() > before;
}

}  // namespace hawk
