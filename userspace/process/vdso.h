#pragma once

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/elf/elf_layout.h"

namespace hawk {

/// The shared library that the kernel maps into every process ("[vdso]", vdso(7)), as a file in memory. It is copied
/// from our own process: all 64-bit processes of one kernel have the same. kPrivilege when the kernel maps none
/// (vdso=0).
Result<UniqueFd> copy_vdso();
/// The same, read.
Result<ElfLayout> read_vdso();

}  // namespace hawk
