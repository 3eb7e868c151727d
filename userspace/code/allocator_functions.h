#pragma once

#include "userspace/code/allocator_file.h"
#include "userspace/elf/elf_image.h"

namespace hawk {

/// Whether functions get plans (yield_plan.h). No trace follows them yet, and to make them takes milliseconds.
enum class Plans { kNone, kMade };

/// Finds every function of the allocator catalogue that `image` defines and decides where to probe it.
AllocatorFile find_allocator_functions(const ElfImage& image, Plans plans = Plans::kNone);

}  // namespace hawk
