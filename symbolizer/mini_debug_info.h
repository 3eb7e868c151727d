#pragma once

#include <optional>

#include "symbolizer/elf_file.h"

namespace hawk {

/// The image that .gnu_debugdata of `file` holds, compressed by xz: what distributions leave of a program's .symtab
/// when they strip it (MiniDebugInfo). nullopt when there is none, or it takes more than 256 MiB.
std::optional<ElfFile> find_mini_debug_info(const ElfFile& file);

}  // namespace hawk
