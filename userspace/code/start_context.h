#pragma once

#include <cstdint>
#include <optional>

#include "userspace/elf/elf_image.h"

namespace hawk {

/// Where the outermost frame of a context made by makecontext returns to: the first instruction of glibc's
/// __start_context, which has no symbol in a stripped file. nullopt when the file does not define makecontext, or
/// defines another than glibc's for x86-64.
std::optional<std::uint64_t> find_start_context(const ElfImage& image);

}  // namespace hawk
