#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "symbolizer/byte_cursor.h"

namespace hawk {

/// The attributes of DWARF entries that we read; all others are skipped.
enum class Slot : std::uint8_t {
  kSibling,
  kLowPc,
  kHighPc,
  kRanges,
  kOrigin,  ///< DW_AT_abstract_origin or, which never stands beside it, DW_AT_specification
  kName,
  kLinkageName,
  kCallFile,
  kCallLine,
  kLineProgram,  ///< DW_AT_stmt_list
  kDirectory,    ///< DW_AT_comp_dir
  kStrOffsetsBase,
  kAddrBase,
  kRnglistsBase,
  kCount,
};
inline constexpr std::size_t kSlotCount = static_cast<std::size_t>(Slot::kCount);

/// What the sizes of attribute values depend on.
struct Encoding {
  std::uint16_t version = 0;
  std::uint8_t address_bytes = 0;
  std::uint8_t offset_bytes = 0;
};

/// How entries of one abbreviation are read: its attributes in order, runs of those that nobody wants and whose size
/// is known melted into one step.
struct Abbreviation {
  struct Step {
    Slot slot = Slot::kCount;   ///< kCount: skip
    std::uint16_t form = 0;     ///< 0: skip `constant` bytes
    std::int64_t constant = 0;  ///< or the value of DW_FORM_implicit_const
  };
  std::uint16_t tag = 0;
  bool has_children = false;
  std::uint32_t first_step = 0;
  std::uint32_t step_count = 0;
};

/// An abbreviation table of .debug_abbrev (DWARF 5, section 7.5.3).
class Abbreviations {
 public:
  /// The table that `section` begins with. A damaged one ends where the damage begins.
  Abbreviations(Bytes section, const Encoding& encoding);

  /// nullptr when the table has no such code.
  const Abbreviation* find(std::uint64_t code) const {
    if (code - 1 < dense_.size()) return &dense_[code - 1];
    return sparse_.empty() ? nullptr : find_sparse(code);
  }
  const Abbreviation::Step* steps(const Abbreviation& abbreviation) const {
    return steps_.data() + abbreviation.first_step;
  }
  std::size_t memory_bytes() const;

 private:
  const Abbreviation* find_sparse(std::uint64_t code) const;
  bool read_steps(ByteCursor& cursor, const Encoding& encoding, Abbreviation& abbreviation);
  void add_step(const Abbreviation& abbreviation, std::uint64_t name, std::uint16_t form, std::int64_t constant,
                const Encoding& encoding);

  std::vector<Abbreviation> dense_;  ///< codes 1, 2, 3 and so on, as compilers number them
  std::unordered_map<std::uint64_t, Abbreviation> sparse_;
  std::vector<Abbreviation::Step> steps_;
};

/// Bytes that a value of `form` takes, or -1 where the value itself tells.
int fixed_form_bytes(std::uint16_t form, const Encoding& encoding);

/// Reads the value of a form: a number, an offset, an index; for DW_FORM_string nothing, for the text is in place.
/// Blocks are skipped. Fails the cursor on an unknown form.
std::uint64_t take_form(ByteCursor& cursor, std::uint16_t form, const Encoding& encoding);

}  // namespace hawk
