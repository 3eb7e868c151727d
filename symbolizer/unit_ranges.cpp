#include "symbolizer/unit_ranges.h"

#include <cstddef>

#include "symbolizer/address_ranges.h"

namespace hawk {

UnitRanges::UnitRanges(UnitCache& units) : units_(&units), listed_(units.file().units().size()) { read_aranges(); }

void UnitRanges::read_aranges() {
  Dwarf_Aranges* ranges = nullptr;
  std::size_t count = 0;
  if (dwarf_getaranges(units_->file().dwarf(), &ranges, &count) != 0) count = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Dwarf_Addr start = 0;
    Dwarf_Word length = 0;
    Dwarf_Off entry = 0;
    if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), &start, &length, &entry) != 0) continue;
    const std::optional<std::uint32_t> unit = units_->file().unit_around(entry);
    if (!unit) continue;
    listed_[*unit] = true;
    add_code(start, start + length, *unit, listed_ranges_);
  }
  listed_ranges_.seal();
}

void UnitRanges::read_other_units() {
  for (std::uint32_t number = 0; number < listed_.size(); ++number) {
    if (listed_[number]) continue;
    DwarfUnit unit = units_->read(number);
    unit.add_unit_ranges(number, other_ranges_);
  }
  other_ranges_.seal();
}

std::optional<std::uint32_t> UnitRanges::unit_of(std::uint64_t address) {
  const std::optional<std::uint32_t> number = listed_ranges_.find(address);
  if (number) return number;
  if (!read_others_) read_other_units();
  read_others_ = true;
  return other_ranges_.find(address);
}

}  // namespace hawk
