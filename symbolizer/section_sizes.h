#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "symbolizer/elf_file.h"

namespace hawk {

enum class DebugSection { kNone, kUsed, kUnused };
/// What the section called `name` is. Unused are those that say where variables lie, macros, indexes of names and
/// unwind tables: libdw is not given them, because it decompresses whatever it has, and they are up to a third of it.
DebugSection debug_section(std::string_view name);

/// How much memory the debug sections of `file` take when libdw opens it: all that are compressed are decompressed
/// then. nullopt if that is more than the file may make us spend: a kilobyte can be said to inflate to a megabyte.
/// Sections of a mapped file that are not compressed take none.
std::optional<std::uint64_t> memory_for_sections(const ElfFile& file);

}  // namespace hawk
