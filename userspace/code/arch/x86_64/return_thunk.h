#pragma once

#include <cstdint>

#include "userspace/elf/elf_image.h"

namespace hawk {

/// Whether the code that begins at `vaddr` changes its own return address, or skips it, and then returns: so do the
/// thunks that compilers call in place of indirect jumps and of returns (-mindirect-branch=thunk and
/// -mfunction-return=thunk of GCC, -mretpoline of clang).
bool changes_return(const ElfImage& image, std::uint64_t vaddr);

}  // namespace hawk
