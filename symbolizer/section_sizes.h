#pragma once

#include <cstdint>
#include <optional>

#include "symbolizer/elf_file.h"

namespace hawk {

/// How much memory the debug sections of `file` take when libdw opens it: all that are compressed are decompressed
/// then. nullopt if that is more than the file may make us spend: a kilobyte can be said to inflate to a megabyte.
/// Sections of a mapped file that are not compressed take none.
std::optional<std::uint64_t> memory_for_sections(const ElfFile& file);

}  // namespace hawk
