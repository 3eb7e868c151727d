#pragma once

#include <libelf.h>

#include "symbolizer/byte_cursor.h"

namespace hawk {

/// The sections of DWARF that symbols are found with, as bytes; empty where the file has none.
struct DebugSections {
  Bytes info;
  Bytes abbrev;
  Bytes aranges;
  Bytes line;
  Bytes str;
  Bytes line_str;
  Bytes str_offsets;
  Bytes addr;
  Bytes ranges;
  Bytes rnglists;

  /// Those of `elf`, which dwarf_begin_elf must have been called on: it decompresses them. They live as long as the
  /// image. All empty when its byte order is not ours.
  static DebugSections of(Elf* elf);
};

}  // namespace hawk
