#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bpf/unwind/layout.h"

namespace hawk {

/// The rules of one file, by address.
///
/// Invariants: rows ascend by offset, the first has offset 0; neighbours have different rules; after the last function,
/// and between functions more than 15 bytes apart, the rule is HAWK_RULE_GAP.
struct UnwindTable {
  std::uint64_t base_vaddr = 0;  ///< that row offsets count from
  std::vector<hawk_row> rows;    ///< empty: no call frame information
  /// What could not be put into a rule, and in how many rows: "CFA by an expression", "CFA from rbx". Functions that
  /// could not be read at all count once: "unknown augmentation".
  std::map<std::string, std::uint64_t> unsupported;
};

/// Chrome, the largest program known, has some 5 million rows.
inline constexpr std::size_t kMaxUnwindRows = 1u << 23;

}  // namespace hawk
