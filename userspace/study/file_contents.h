#pragma once

#include "userspace/code/allocator_functions.h"
#include "userspace/elf/elf_image.h"
#include "userspace/study/file_study.h"

namespace hawk {

/// The result of symbols and code: the allocator functions, if there are any, and where to probe each.
FileCode read_code(const ElfImage& image, Plans plans = Plans::kNone);

/// The table in .eh_frame, or in .debug_frame if there is no other.
UnwindTable read_unwind_table_of(const ElfImage& image, RuleSet& rules);
/// The same, with rules of its own. If memory is insufficient, the result is as if the file had none, and the table
/// names the cause.
FileTable read_table(const ElfImage& image);

}  // namespace hawk
