#pragma once

#include <cstdint>

#include "userspace/unwinding/unwind_table.h"

namespace hawk {

/// Makes the code at a file's entry point the outermost frame where the table says nothing about it, up to where it
/// does. The kernel enters there: nothing is further out. In Debian's ld.so that code, from which constructors of all
/// libraries are called, has no call frame information.
void end_at_entry_point(UnwindTable& table, std::uint64_t entry_vaddr);

/// Makes a function the outermost frame of stacks with its very first instruction as return address, which no call
/// leaves behind: the byte before it gets the rule.
void end_at_start_of(UnwindTable& table, std::uint64_t function_vaddr);

}  // namespace hawk
