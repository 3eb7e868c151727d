#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "userspace/unwinding/rule_set.h"
#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// A section with call frame information, and where it lies.
struct UnwindSection {
  std::span<const std::uint8_t> bytes;
  std::uint64_t vaddr = 0;      ///< ELF virtual address of the first byte
  bool is_debug_frame = false;  ///< .debug_frame (DWARF 5, 6.4) instead of .eh_frame (LSB Core, "Exception Frames")
  bool ends_at_zero = false;    ///< where an .eh_frame ends is not known but by its terminator
};

/// Reads one section. Damaged or hostile input can at worst lose rows: what cannot be understood becomes HAWK_RULE_GAP
/// or HAWK_RULE_UNSUPPORTED. Where functions overlap, the one that begins later holds from its beginning to its end (of
/// two that begin together the shorter one, else the later one in the section). Time and memory are proportional to the
/// section, but for the sorting of functions. From the row on for which there is no room, the rule is
/// HAWK_RULE_UNSUPPORTED.
UnwindTable read_unwind_table(const UnwindSection& section, RuleSet& rules, std::size_t max_rows = kMaxUnwindRows);

}  // namespace hawk
