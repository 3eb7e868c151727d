#pragma once

#include <cstdint>

#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Makes the code at a file's entry point the outermost frame where the table says nothing about it, up to where it
/// does. The kernel enters there: nothing is further out. In Debian's ld.so that code, from which constructors of all
/// libraries are called, has no call frame information.
void end_at_entry_point(UnwindTable& table, std::uint64_t entry_vaddr);

}  // namespace hawk
