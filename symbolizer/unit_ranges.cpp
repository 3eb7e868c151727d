#include "symbolizer/unit_ranges.h"

#include <dwarf.h>

#include "symbolizer/address_ranges.h"
#include "symbolizer/dwarf_unit.h"

namespace hawk {

UnitRanges::UnitRanges(UnitCache& units) : cache_(&units) { read_aranges(); }

std::uint32_t UnitRanges::number_of(std::uint64_t unit) {
  if (units_.empty() || units_.back() != unit) units_.push_back(unit);
  return static_cast<std::uint32_t>(units_.size() - 1);
}

void UnitRanges::read_aranges() {
  const Bytes aranges = cache_->sections().aranges;
  ByteCursor all(aranges);
  while (!all.at_end()) {
    std::uint8_t offset_bytes = 0;
    const std::uint64_t length = all.unit_length(offset_bytes);
    const Bytes content = part_of({all.position(), all.left()}, 0, length);
    const std::uint64_t header_start = aranges.size() - all.left() - (offset_bytes == 8 ? 12 : 4);
    all.skip(length);
    ByteCursor set(content);
    const std::uint16_t version = set.u16();
    const std::uint64_t unit = set.number(offset_bytes);
    const std::uint8_t address_bytes = set.u8();
    const std::uint8_t segment_bytes = set.u8();
    const bool is_sound = set.ok() && version == 2 && segment_bytes == 0 && (address_bytes == 4 || address_bytes == 8);
    if (!is_sound) continue;
    listed_.insert(unit);
    // Tuples are aligned to their size, counted from the start of the set's header.
    const std::uint64_t tuple_bytes = 2u * address_bytes;
    const std::uint64_t position = static_cast<std::uint64_t>(set.position() - aranges.data()) - header_start;
    set.skip((tuple_bytes - position % tuple_bytes) % tuple_bytes);
    while (set.ok() && !set.at_end()) {
      const std::uint64_t low = set.number(address_bytes);
      const std::uint64_t size = set.number(address_bytes);
      if (low == 0 && size == 0) break;
      if (set.ok()) add_code(low, low + size, number_of(unit), listed_ranges_);
    }
  }
  listed_ranges_.seal();
}

void UnitRanges::read_other_units() {
  for (std::uint64_t offset = 0;;) {
    const std::optional<UnitHeader> header = UnitHeader::at(cache_->info(), offset);
    if (!header) break;
    offset = header->end;
    if (listed_.contains(header->offset)) continue;
    DwarfUnit unit(cache_->sections(), cache_->info(), *header);
    // Partial and type units hold no code: what they describe is reached by reference.
    const std::uint16_t tag = unit.reader().own_entry().tag;
    if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) continue;
    unit.add_unit_ranges(number_of(header->offset), other_ranges_);
  }
  other_ranges_.seal();
}

std::optional<std::uint64_t> UnitRanges::unit_of(std::uint64_t address) {
  std::optional<std::uint32_t> number = listed_ranges_.find(address);
  if (!number) {
    if (!read_others_) read_other_units();
    read_others_ = true;
    number = other_ranges_.find(address);
  }
  return number ? std::optional(units_[*number]) : std::nullopt;
}

}  // namespace hawk
