#pragma once

#include <string>

namespace hawk {

/// Permanently gives up every right that reading files from descriptors does not need. Afterwards this process has no
/// capability and the user "nobody"; it can open nothing (that fails), and is killed by the kernel (SIGSYS) for any
/// call but those that read descriptors it has or is handed, write to the socket that it has, and manage its own
/// memory: no socket, no other process, no program, no code made at run time. What its memory may grow to is limited
/// before (MemoryBudget).
///
/// For a program of one thread. Returns why it failed; empty: it did not.
std::string confine_this_process();

}  // namespace hawk
