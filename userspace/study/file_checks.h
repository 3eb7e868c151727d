#pragma once

#include "userspace/elf/elf_layout.h"
#include "userspace/study/file_study.h"

namespace hawk {

/// Whether every probe in `code` lies in code of the file, according to its program headers: the process that answers
/// may have been taken over by the file.
bool is_about(const FileCode& code, const ElfLayout& file);

}  // namespace hawk
