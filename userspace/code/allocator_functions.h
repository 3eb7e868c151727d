#pragma once

#include "userspace/code/allocator_file.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// Finds every function of the allocator catalogue that `image` defines and decides where to probe it.
AllocatorFile find_allocator_functions(const ElfImage& image, Plans plans = Plans::kNone);

}  // namespace hawk
