#include "symbolizer/split_addresses.h"

#include <dwarf.h>

#include <cstddef>
#include <optional>

#include "symbolizer/address_ranges.h"

namespace hawk {
namespace {

/// More pieces than any compiler splits one function into; a bound for damaged range lists.
constexpr std::size_t kMostRangesOfOneEntry = 1 << 20;

std::optional<std::uint64_t> indexed_address(const SplitAddresses& unit, std::uint64_t index) {
  if (index > unit.addresses.size()) return std::nullopt;
  ByteCursor cursor(part_of(unit.addresses, index * unit.address_bytes, unit.address_bytes));
  const std::uint64_t address = cursor.number(unit.address_bytes);
  return cursor.ok() ? std::optional(address) : std::nullopt;
}

/// The index that an attribute has for a value; nullopt when it has none.
std::optional<std::uint64_t> index_of(const Dwarf_Attribute& attribute, const SplitAddresses& unit) {
  if (attribute.valp >= unit.unit_end) return std::nullopt;
  ByteCursor cursor(Bytes(attribute.valp, unit.unit_end));
  std::uint64_t index = 0;
  switch (attribute.form) {
    case DW_FORM_addrx1:
      index = cursor.number(1);
      break;
    case DW_FORM_addrx2:
      index = cursor.number(2);
      break;
    case DW_FORM_addrx3:
      index = cursor.number(3);
      break;
    case DW_FORM_addrx4:
      index = cursor.number(4);
      break;
    case DW_FORM_addrx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_rnglistx:
      index = cursor.uleb();
      break;
    default:
      return std::nullopt;
  }
  return cursor.ok() ? std::optional(index) : std::nullopt;
}

std::optional<std::uint64_t> address_of(Dwarf_Die* entry, unsigned name, const SplitAddresses& unit) {
  Dwarf_Attribute attribute;
  Dwarf_Addr address = 0;
  if (dwarf_attr(entry, name, &attribute) == nullptr) return std::nullopt;
  if (attribute.form == DW_FORM_addr && dwarf_formaddr(&attribute, &address) == 0) return address;
  const std::optional<std::uint64_t> index = index_of(attribute, unit);
  return index ? indexed_address(unit, *index) : std::nullopt;
}

/// .debug_ranges: pairs of offsets from the unit's first address (DWARF 4, section 2.17.3).
void add_pairs(const SplitAddresses& unit, std::uint64_t offset, std::uint32_t value, IntervalIndex& index) {
  const std::uint64_t base_mark = unit.address_bytes == 8 ? UINT64_MAX : UINT32_MAX;
  std::uint64_t base = unit.low;
  ByteCursor cursor(part_of(unit.pairs, offset));
  for (std::size_t count = 0; count < kMostRangesOfOneEntry; ++count) {
    const std::uint64_t low = cursor.number(unit.address_bytes);
    const std::uint64_t high = cursor.number(unit.address_bytes);
    if (!cursor.ok() || (low == 0 && high == 0)) return;
    if (low == base_mark) {
      base = high;
    } else {
      add_code(base + low, base + high, value, index);
    }
  }
}

/// One entry of .debug_rnglists (DWARF 5, section 2.17.3). False at the end of the list.
bool add_coded(const SplitAddresses& unit, ByteCursor& cursor, std::uint64_t& base, std::uint32_t value,
               IntervalIndex& index) {
  const auto indexed = [&] { return indexed_address(unit, cursor.uleb()).value_or(0); };
  const auto add = [&](std::uint64_t low, std::uint64_t high) {
    if (cursor.ok()) add_code(low, high, value, index);
  };
  std::uint64_t low = 0;
  switch (cursor.byte()) {
    case DW_RLE_base_addressx:
      base = indexed();
      break;
    case DW_RLE_startx_endx:
      low = indexed();
      add(low, indexed());
      break;
    case DW_RLE_startx_length:
      low = indexed();
      add(low, low + cursor.uleb());
      break;
    case DW_RLE_offset_pair:
      low = cursor.uleb();
      add(base + low, base + cursor.uleb());
      break;
    case DW_RLE_base_address:
      base = cursor.number(unit.address_bytes);
      break;
    case DW_RLE_start_end:
      low = cursor.number(unit.address_bytes);
      add(low, cursor.number(unit.address_bytes));
      break;
    case DW_RLE_start_length:
      low = cursor.number(unit.address_bytes);
      add(low, low + cursor.uleb());
      break;
    default:  // the end of the list, or of the section
      return false;
  }
  return cursor.ok();
}

void add_list(const SplitAddresses& unit, std::uint64_t offset, std::uint32_t value, IntervalIndex& index) {
  std::uint64_t base = unit.low;
  ByteCursor cursor(part_of(unit.range_lists, offset));
  for (std::size_t count = 0; count < kMostRangesOfOneEntry; ++count) {
    if (!add_coded(unit, cursor, base, value, index)) return;
  }
}

/// Where list number `number` begins: the offsets of all follow the header of a unit's part.
std::optional<std::uint64_t> list_offset(const SplitAddresses& unit, std::uint64_t number) {
  const std::uint64_t table = unit.offset_bytes == 8 ? 20 : 12;
  if (number > unit.range_lists.size()) return std::nullopt;
  ByteCursor cursor(part_of(unit.range_lists, table + number * unit.offset_bytes));
  const std::uint64_t offset = cursor.number(unit.offset_bytes);
  return cursor.ok() ? std::optional(table + offset) : std::nullopt;
}

void add_list_of(Dwarf_Attribute& attribute, const SplitAddresses& unit, std::uint32_t value, IntervalIndex& index) {
  const std::optional<std::uint64_t> number = index_of(attribute, unit);
  Dwarf_Word offset = 0;
  if (attribute.form == DW_FORM_rnglistx && number) {
    const std::optional<std::uint64_t> start = list_offset(unit, *number);
    if (start) add_list(unit, *start, value, index);
  } else if (attribute.form == DW_FORM_sec_offset && unit.unit_end - attribute.valp >= unit.offset_bytes) {
    ByteCursor cursor(Bytes(attribute.valp, unit.offset_bytes));
    offset = cursor.number(unit.offset_bytes);
    if (unit.range_lists.empty()) {
      add_pairs(unit, offset, value, index);
    } else {
      add_list(unit, offset, value, index);
    }
  }
}

}  // namespace

bool add_split_ranges(Dwarf_Die* entry, const SplitAddresses& unit, std::uint32_t value, IntervalIndex& index) {
  const std::size_t before = index.added_count();
  Dwarf_Attribute attribute;
  if (dwarf_attr(entry, DW_AT_high_pc, &attribute) != nullptr) {
    const std::optional<std::uint64_t> low = address_of(entry, DW_AT_low_pc, unit);
    Dwarf_Word length = 0;
    if (!low) return false;
    // A constant is a length (since version 4), an address an address.
    const std::optional<std::uint64_t> high = address_of(entry, DW_AT_high_pc, unit);
    if (!high && dwarf_formudata(&attribute, &length) != 0) return false;
    add_code(*low, high.value_or(*low + length), value, index);
  } else if (dwarf_attr(entry, DW_AT_ranges, &attribute) != nullptr) {
    add_list_of(attribute, unit, value, index);
  }
  return index.added_count() > before;
}

}  // namespace hawk
