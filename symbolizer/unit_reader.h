#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "symbolizer/abbreviations.h"
#include "symbolizer/debug_sections.h"

namespace hawk {

/// The header of a unit of .debug_info (DWARF 5, section 7.5.1). Offsets are into .debug_info.
struct UnitHeader {
  std::uint64_t offset = 0;
  std::uint64_t first_entry = 0;  ///< the unit's own entry
  std::uint64_t end = 0;
  std::uint64_t abbreviations = 0;  ///< offset into .debug_abbrev
  Encoding encoding;

  /// nullopt when no sound unit begins there.
  static std::optional<UnitHeader> at(InfoSection& info, std::uint64_t offset);
};

/// What an attribute refers to.
enum class ReferenceTo : std::uint8_t { kNothing, kThisUnit, kThisFile, kAlternate };
struct Reference {
  ReferenceTo to = ReferenceTo::kNothing;
  std::uint64_t offset = 0;  ///< in .debug_info of that file
};

/// An entry of .debug_info, with those of its attributes that Slot names.
struct Entry {
  std::uint64_t offset = 0;
  std::uint64_t next = 0;  ///< where the next entry, its first child if it has any, begins
  std::uint16_t tag = 0;   ///< 0: this is the mark that ends a list of children
  bool has_children = false;

  bool has(Slot slot) const { return (present & bit(slot)) != 0; }
  std::uint64_t value(Slot slot) const { return values[static_cast<std::size_t>(slot)]; }
  std::uint16_t form(Slot slot) const { return forms[static_cast<std::size_t>(slot)]; }

  static constexpr std::uint32_t bit(Slot slot) { return 1u << static_cast<unsigned>(slot); }

  std::uint32_t present = 0;  ///< only these of the following are set
  std::array<std::uint64_t, kSlotCount> values;
  std::array<std::uint16_t, kSlotCount> forms;
};

/// Reads the entries of one unit.
///
/// libdw answers questions about one entry at a time, and searches its attributes anew for each: walking a unit with it
/// takes five times as long as reading its bytes once in order, which is what this does. Input is not trusted.
class UnitReader {
 public:
  /// `sections` and `info` must outlive the reader.
  UnitReader(const DebugSections& sections, InfoSection& info, const UnitHeader& header);
  UnitReader(const UnitReader&) = delete;
  UnitReader& operator=(const UnitReader&) = delete;

  const UnitHeader& header() const { return header_; }
  /// The unit's own entry; its tag is 0 when it could not be read.
  const Entry& own_entry() const { return own_entry_; }
  /// Reads the entry at `offset`. False at the unit's end and where the data is damaged.
  bool read(std::uint64_t offset, Entry& entry) const;
  /// Where the entry begins that follows `entry` and all its children. Always greater than entry.offset.
  std::uint64_t after(const Entry& entry) const;
  Reference refer(const Entry& entry, Slot slot) const;
  /// The entry of this unit that an attribute refers to; nullopt if it lies in another one, or there is no such
  /// attribute.
  std::optional<std::uint64_t> reference(const Entry& entry, Slot slot) const;
  /// The text of an attribute, which ends with a zero; "" when there is none.
  std::string_view text(const Entry& entry, Slot slot) const;
  /// The address that an attribute gives.
  std::optional<std::uint64_t> address(const Entry& entry, Slot slot) const;
  /// Address number `index` of the unit's part of .debug_addr.
  std::optional<std::uint64_t> indexed_address(std::uint64_t index) const;
  /// The first address of the unit: what range lists start from.
  std::uint64_t base_address() const { return base_address_; }
  const DebugSections& sections() const { return *sections_; }
  std::size_t memory_bytes() const { return sizeof *this + storage_.capacity() + abbreviations_.memory_bytes(); }

 private:
  const DebugSections* sections_;
  UnitHeader header_;
  std::vector<std::uint8_t> storage_;
  Bytes bytes_;  ///< of the unit, its header included
  Abbreviations abbreviations_;
  Entry own_entry_;
  std::uint64_t base_address_ = 0;
};

}  // namespace hawk
