#pragma once

#include "userspace/elf/elf_layout.h"
#include "userspace/study/file_study.h"

namespace hawk {

/// Whether every probe that `code` asks for would be on code of the file, as its program headers say: the process that
/// answers may have been taken over by the file.
bool is_about(const FileCode& code, const ElfLayout& file);

}  // namespace hawk
