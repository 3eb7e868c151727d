#include "symbolizer/unit_reader.h"

#include <dwarf.h>

namespace hawk {
namespace {

constexpr std::uint64_t kLongestHeaderBytes = 48;

/// The bytes between a header's fixed part and the unit's own entry: what units of some types carry besides.
std::uint64_t extra_header_bytes(std::uint8_t unit_type, std::uint8_t offset_bytes) {
  constexpr std::uint64_t kSignatureBytes = 8;
  switch (unit_type) {
    case DW_UT_skeleton:
    case DW_UT_split_compile:
      return kSignatureBytes;
    case DW_UT_type:
    case DW_UT_split_type:
      return kSignatureBytes + offset_bytes;
    default:
      return 0;
  }
}

std::string_view text_at(Bytes section, std::uint64_t offset) { return ByteCursor(part_of(section, offset)).text(); }

}  // namespace

std::optional<UnitHeader> UnitHeader::at(InfoSection& info, std::uint64_t offset) {
  std::vector<std::uint8_t> storage;
  const Bytes start = info.part(offset, kLongestHeaderBytes, storage);
  ByteCursor cursor(start);
  UnitHeader header;
  header.offset = offset;
  const std::uint64_t length = cursor.unit_length(header.encoding.offset_bytes);
  const std::uint64_t content = offset + (start.size() - cursor.left());
  if (!cursor.ok() || length > info.size() - content) return std::nullopt;
  header.end = content + length;
  header.encoding.version = cursor.u16();
  if (header.encoding.version < 2 || header.encoding.version > 5) return std::nullopt;
  std::uint8_t unit_type = DW_UT_compile;
  if (header.encoding.version >= 5) {
    unit_type = cursor.u8();
    header.encoding.address_bytes = cursor.u8();
    header.abbreviations = cursor.number(header.encoding.offset_bytes);
    cursor.skip(extra_header_bytes(unit_type, header.encoding.offset_bytes));
  } else {
    header.abbreviations = cursor.number(header.encoding.offset_bytes);
    header.encoding.address_bytes = cursor.u8();
  }
  header.first_entry = offset + (start.size() - cursor.left());
  const bool is_sound = cursor.ok() && header.first_entry <= header.end &&
                        (header.encoding.address_bytes == 4 || header.encoding.address_bytes == 8);
  return is_sound ? std::optional(header) : std::nullopt;
}

UnitReader::UnitReader(const DebugSections& sections, InfoSection& info, const UnitHeader& header)
    : sections_(&sections),
      header_(header),
      bytes_(info.part(header.offset, header.end - header.offset, storage_)),
      abbreviations_(part_of(sections.abbrev, header.abbreviations), header.encoding) {
  header_.end = header_.offset + bytes_.size();
  if (!read(header_.first_entry, own_entry_)) {
    own_entry_ = {};
    return;
  }
  base_address_ = address(own_entry_, Slot::kLowPc).value_or(0);
}

bool UnitReader::read(std::uint64_t offset, Entry& entry) const {
  if (offset < header_.offset || offset >= header_.end) return false;
  const Bytes bytes = bytes_.subspan(offset - header_.offset);
  ByteCursor cursor(bytes);
  const std::uint64_t code = cursor.uleb128();
  entry.offset = offset;
  entry.present = 0;
  if (code == 0) {
    entry.tag = 0;
    entry.has_children = false;
    entry.next = offset + static_cast<std::uint64_t>(cursor.position() - bytes.data());
    return true;
  }
  const Abbreviation* abbreviation = abbreviations_.find(code);
  if (abbreviation == nullptr) return false;
  entry.tag = abbreviation->tag;
  entry.has_children = abbreviation->has_children;
  const Abbreviation::Step* step = abbreviations_.steps(*abbreviation);
  for (const Abbreviation::Step* end = step + abbreviation->step_count; step != end; ++step) {
    if (step->form == 0) {
      cursor.skip(static_cast<std::uint64_t>(step->constant));
    } else if (step->slot == Slot::kCount) {
      take_form(cursor, step->form, header_.encoding);
    } else {
      const std::size_t slot = static_cast<std::size_t>(step->slot);
      const std::uint64_t text = offset + static_cast<std::uint64_t>(cursor.position() - bytes.data());
      const std::uint64_t value = take_form(cursor, step->form, header_.encoding);
      entry.present |= Entry::bit(step->slot);
      entry.forms[slot] = step->form;
      entry.values[slot] = step->form == DW_FORM_implicit_const ? static_cast<std::uint64_t>(step->constant)
                           : step->form == DW_FORM_string       ? text
                                                                : value;
    }
  }
  entry.next = offset + static_cast<std::uint64_t>(cursor.position() - bytes.data());
  return cursor.ok();
}

std::uint64_t UnitReader::after(const Entry& entry) const {
  if (!entry.has_children) return entry.next;
  const std::optional<std::uint64_t> sibling = reference(entry, Slot::kSibling);
  if (sibling && *sibling >= entry.next) return *sibling;
  Entry child;
  std::uint64_t depth = 1;
  for (std::uint64_t offset = entry.next; depth > 0;) {
    if (!read(offset, child)) return header_.end;
    offset = child.next;
    if (child.tag == 0) {
      if (--depth == 0) return offset;
      continue;
    }
    if (!child.has_children) continue;
    const std::optional<std::uint64_t> next = reference(child, Slot::kSibling);
    if (next && *next >= offset) {
      offset = *next;
    } else {
      ++depth;
    }
  }
  return header_.end;
}

Reference UnitReader::refer(const Entry& entry, Slot slot) const {
  if (!entry.has(slot)) return {};
  const std::uint64_t value = entry.value(slot);
  switch (entry.form(slot)) {
    case DW_FORM_ref1:
    case DW_FORM_ref2:
    case DW_FORM_ref4:
    case DW_FORM_ref8:
    case DW_FORM_ref_udata:
      if (value >= header_.end - header_.offset || value < header_.first_entry - header_.offset) return {};
      return {ReferenceTo::kThisUnit, header_.offset + value};
    case DW_FORM_ref_addr:
      if (value >= header_.first_entry && value < header_.end) return {ReferenceTo::kThisUnit, value};
      return {ReferenceTo::kThisFile, value};
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_ref_sup4:
    case DW_FORM_ref_sup8:
      return {ReferenceTo::kAlternate, value};
    default:
      return {};
  }
}

std::optional<std::uint64_t> UnitReader::reference(const Entry& entry, Slot slot) const {
  const Reference reference = refer(entry, slot);
  return reference.to == ReferenceTo::kThisUnit ? std::optional(reference.offset) : std::nullopt;
}

std::string_view UnitReader::text(const Entry& entry, Slot slot) const {
  if (!entry.has(slot)) return {};
  const std::uint64_t value = entry.value(slot);
  switch (entry.form(slot)) {
    case DW_FORM_string:
      return text_at(bytes_, value - header_.offset);
    case DW_FORM_strp:
      return text_at(sections_->str, value);
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_strp_sup:
      return text_at(sections_->alternate_str, value);
    case DW_FORM_line_strp:
      return text_at(sections_->line_str, value);
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4: {
      const std::size_t bytes = header_.encoding.offset_bytes;
      if (!own_entry_.has(Slot::kStrOffsetsBase) || value > UINT32_MAX) return {};
      ByteCursor cursor(part_of(sections_->str_offsets, own_entry_.value(Slot::kStrOffsetsBase)));
      cursor.skip(value * bytes);
      const std::uint64_t offset = cursor.number(bytes);
      return cursor.ok() ? text_at(sections_->str, offset) : std::string_view{};
    }
    default:
      return {};
  }
}

std::optional<std::uint64_t> UnitReader::address(const Entry& entry, Slot slot) const {
  if (!entry.has(slot)) return std::nullopt;
  switch (entry.form(slot)) {
    case DW_FORM_addr:
      return entry.value(slot);
    case DW_FORM_addrx:
    case DW_FORM_addrx1:
    case DW_FORM_addrx2:
    case DW_FORM_addrx3:
    case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index:
      return indexed_address(entry.value(slot));
    default:
      return std::nullopt;
  }
}

std::optional<std::uint64_t> UnitReader::indexed_address(std::uint64_t index) const {
  if (!own_entry_.has(Slot::kAddrBase) || index > UINT32_MAX) return std::nullopt;
  ByteCursor cursor(part_of(sections_->addr, own_entry_.value(Slot::kAddrBase)));
  cursor.skip(index * header_.encoding.address_bytes);
  const std::uint64_t address = cursor.number(header_.encoding.address_bytes);
  return cursor.ok() ? std::optional(address) : std::nullopt;
}

}  // namespace hawk
