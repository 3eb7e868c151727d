#pragma once

#include <libelf.h>

#include <array>
#include <cstdint>

#include "symbolizer/byte_cursor.h"
#include "symbolizer/info_section.h"

namespace hawk {

/// The sections of DWARF that symbols are found with besides .debug_info, as bytes; empty where the file has none.
struct DebugSections {
  Bytes abbrev;
  Bytes aranges;
  Bytes line;
  Bytes str;
  Bytes line_str;
  Bytes str_offsets;
  Bytes addr;
  Bytes ranges;
  Bytes rnglists;

  Bytes alternate_str;  ///< .debug_str of the file that dwz moved shared parts to; of() leaves it empty

  /// Those that the file has, as a list.
  std::array<Bytes, 9> all() const {
    return {abbrev, aranges, line, str, line_str, str_offsets, addr, ranges, rnglists};
  }

  /// Those of `elf`, decompressed. They live as long as the image. All empty when its byte order is not ours.
  static DebugSections of(Elf* elf);
};

/// Whether reading the debug sections of `elf` takes no more memory than the file may make us spend: a kilobyte can be
/// said to inflate to a megabyte. `file_bytes`: its size. `is_mapped`: sections that are not compressed take none.
bool fits_into_memory(Elf* elf, std::uint64_t file_bytes, bool is_mapped);

/// .debug_info of `elf`, which must outlive it. Empty when there is none, or its byte order is not ours.
InfoSection info_section_of(Elf* elf);

}  // namespace hawk
