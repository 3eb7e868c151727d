#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "userspace/unwinding/unsupported.h"
#include "userspace/unwinding/unwind_section.h"

namespace hawk {

/// What functions have in common (a CIE).
struct CommonRecord {
  std::uint64_t section_offset = 0;
  std::span<const std::uint8_t> instructions;
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  std::uint64_t return_address_column = 0;
  std::uint8_t pointer_encoding = 0;
  bool has_augmentation_data = false;
  bool is_signal_frame = false;
  /// Why functions that refer to it cannot be read.
  Unsupported flaw = Unsupported::kNothing;
};

/// A function, or a part of one (an FDE). Its end is not beyond the address space.
struct FunctionRecord {
  std::uint64_t begin = 0;            ///< ELF virtual address
  std::uint64_t bytes = 0;            ///< of code; not 0
  std::uint32_t common = 0;           ///< index of its CommonRecord
  std::uint32_t instructions_at = 0;  ///< section offset
  std::uint32_t instruction_bytes = 0;
};

struct FrameRecords {
  std::vector<CommonRecord> commons;
  std::vector<FunctionRecord> functions;  ///< in the order of the section
};

/// Goes through a section once for what is common and once for the functions. Functions that begin at 0 or have no code
/// are what linkers leave of discarded ones, and are passed over; others that cannot be read are counted. Time and
/// memory are proportional to the section.
FrameRecords read_frame_records(const UnwindSection& section, UnsupportedCounts& unsupported);

}  // namespace hawk
