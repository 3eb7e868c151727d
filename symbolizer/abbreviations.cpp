#include "symbolizer/abbreviations.h"

#include <dwarf.h>

namespace hawk {
namespace {

Slot slot_of(std::uint64_t attribute) {
  switch (attribute) {
    case DW_AT_sibling:
      return Slot::kSibling;
    case DW_AT_low_pc:
      return Slot::kLowPc;
    case DW_AT_high_pc:
      return Slot::kHighPc;
    case DW_AT_ranges:
      return Slot::kRanges;
    case DW_AT_abstract_origin:
    case DW_AT_specification:
      return Slot::kOrigin;
    case DW_AT_name:
      return Slot::kName;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
      return Slot::kLinkageName;
    case DW_AT_call_file:
      return Slot::kCallFile;
    case DW_AT_call_line:
      return Slot::kCallLine;
    case DW_AT_stmt_list:
      return Slot::kLineProgram;
    case DW_AT_comp_dir:
      return Slot::kDirectory;
    case DW_AT_str_offsets_base:
      return Slot::kStrOffsetsBase;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
      return Slot::kAddrBase;
    case DW_AT_rnglists_base:
      return Slot::kRnglistsBase;
    default:
      return Slot::kCount;
  }
}

}  // namespace

Abbreviations::Abbreviations(Bytes section, const Encoding& encoding) {
  ByteCursor cursor(section);
  while (true) {
    const std::uint64_t code = cursor.uleb128();
    if (code == 0) return;  // the table's end, or the section's
    Abbreviation abbreviation;
    const std::uint64_t tag = cursor.uleb128();
    abbreviation.tag = tag > UINT16_MAX ? std::uint16_t{0} : static_cast<std::uint16_t>(tag);
    abbreviation.has_children = cursor.u8() != 0;
    abbreviation.first_step = static_cast<std::uint32_t>(steps_.size());
    if (!read_steps(cursor, encoding, abbreviation)) return;
    abbreviation.step_count = static_cast<std::uint32_t>(steps_.size()) - abbreviation.first_step;
    if (code == dense_.size() + 1) {
      dense_.push_back(abbreviation);
    } else {
      sparse_.emplace(code, abbreviation);
    }
  }
}

bool Abbreviations::read_steps(ByteCursor& cursor, const Encoding& encoding, Abbreviation& abbreviation) {
  while (true) {
    const std::uint64_t name = cursor.uleb128();
    const std::uint64_t form = cursor.uleb128();
    const std::int64_t constant = form == DW_FORM_implicit_const ? cursor.sleb128() : 0;
    if (!cursor.ok() || steps_.size() == UINT32_MAX) return false;
    if (name == 0 && form == 0) return true;
    add_step(abbreviation, name, form > UINT16_MAX ? UINT16_MAX : static_cast<std::uint16_t>(form), constant, encoding);
  }
}

void Abbreviations::add_step(const Abbreviation& abbreviation, std::uint64_t name, std::uint16_t form,
                             std::int64_t constant, const Encoding& encoding) {
  const Slot slot = slot_of(name);
  const int bytes = fixed_form_bytes(form, encoding);
  if (slot != Slot::kCount || bytes < 0) {
    steps_.push_back({slot, form, constant});
    return;
  }
  const bool follows_skip = steps_.size() > abbreviation.first_step && steps_.back().form == 0;
  if (!follows_skip) steps_.push_back({});
  steps_.back().constant += bytes;
}

const Abbreviation* Abbreviations::find_sparse(std::uint64_t code) const {
  const auto found = sparse_.find(code);
  return found == sparse_.end() ? nullptr : &found->second;
}

std::size_t Abbreviations::memory_bytes() const {
  constexpr std::size_t kNodeBytes = sizeof(Abbreviation) + 4 * sizeof(void*);
  return dense_.capacity() * sizeof(Abbreviation) + steps_.capacity() * sizeof(Abbreviation::Step) +
         sparse_.size() * kNodeBytes;
}

int fixed_form_bytes(std::uint16_t form, const Encoding& encoding) {
  switch (form) {
    case DW_FORM_flag_present:
    case DW_FORM_implicit_const:
      return 0;
    case DW_FORM_data1:
    case DW_FORM_ref1:
    case DW_FORM_flag:
    case DW_FORM_strx1:
    case DW_FORM_addrx1:
      return 1;
    case DW_FORM_data2:
    case DW_FORM_ref2:
    case DW_FORM_strx2:
    case DW_FORM_addrx2:
      return 2;
    case DW_FORM_strx3:
    case DW_FORM_addrx3:
      return 3;
    case DW_FORM_data4:
    case DW_FORM_ref4:
    case DW_FORM_strx4:
    case DW_FORM_addrx4:
    case DW_FORM_ref_sup4:
      return 4;
    case DW_FORM_data8:
    case DW_FORM_ref8:
    case DW_FORM_ref_sig8:
    case DW_FORM_ref_sup8:
      return 8;
    case DW_FORM_data16:
      return 16;
    case DW_FORM_addr:
      return encoding.address_bytes;
    case DW_FORM_ref_addr:
      return encoding.version < 3 ? encoding.address_bytes : encoding.offset_bytes;
    case DW_FORM_sec_offset:
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
      return encoding.offset_bytes;
    default:
      return -1;
  }
}

std::uint64_t take_form(ByteCursor& cursor, std::uint16_t form, const Encoding& encoding) {
  if (form == DW_FORM_indirect) {
    const std::uint64_t real = cursor.uleb128();
    form = real > UINT16_MAX || real == DW_FORM_indirect ? std::uint16_t{0} : static_cast<std::uint16_t>(real);
  }
  const int bytes = fixed_form_bytes(form, encoding);
  if (bytes >= 0 && bytes <= 8) return cursor.number(static_cast<std::size_t>(bytes));
  switch (form) {
    case DW_FORM_udata:
    case DW_FORM_ref_udata:
    case DW_FORM_strx:
    case DW_FORM_addrx:
    case DW_FORM_loclistx:
    case DW_FORM_rnglistx:
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
      return cursor.uleb128();
    case DW_FORM_sdata:
      return static_cast<std::uint64_t>(cursor.sleb128());
    case DW_FORM_string:
      cursor.text();
      return 0;
    case DW_FORM_data16:
      cursor.skip(16);
      return 0;
    case DW_FORM_block1:
      cursor.skip(cursor.u8());
      return 0;
    case DW_FORM_block2:
      cursor.skip(cursor.u16());
      return 0;
    case DW_FORM_block4:
      cursor.skip(cursor.u32());
      return 0;
    case DW_FORM_block:
    case DW_FORM_exprloc:
      cursor.skip(cursor.uleb128());
      return 0;
    default:
      cursor.skip(UINT64_MAX);
      return 0;
  }
}

}  // namespace hawk
