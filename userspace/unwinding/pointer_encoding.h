#pragma once

#include <cstdint>

#include "userspace/base/byte_cursor.h"

namespace hawk {

/// Whether read_pointer() understands it. Not: addresses relative to the text or data segment, which no compiler writes
/// into call frame information for x86-64, and indirect ones, which are only known once the file is loaded.
bool is_readable_pointer(std::uint8_t encoding);

/// The pointer at the cursor (LSB Core, "DWARF Exception Header Encoding"). `at_vaddr`: where the cursor stands. The
/// encoding must be readable.
std::uint64_t read_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t at_vaddr);

/// A number of bytes, written in the same format but relative to nothing.
std::uint64_t read_pointer_sized_count(ByteCursor& cursor, std::uint8_t encoding);

/// Passes over a pointer of any encoding; one in an unknown format ends the reading.
void skip_pointer(ByteCursor& cursor, std::uint8_t encoding, std::uint64_t at_vaddr);

}  // namespace hawk
