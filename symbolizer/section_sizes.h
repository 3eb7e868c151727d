#pragma once

#include <libelf.h>

#include <cstdint>
#include <optional>

namespace hawk {

/// How much memory the debug sections of `elf` take when libdw opens it: all that are compressed are decompressed then.
/// nullopt if that is more than the file may make us spend: a kilobyte can be said to inflate to a megabyte.
/// `file_bytes`: the size of the file. `is_mapped`: sections that are not compressed take none.
std::optional<std::uint64_t> memory_for_sections(Elf* elf, std::uint64_t file_bytes, bool is_mapped);

}  // namespace hawk
