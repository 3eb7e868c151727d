#pragma once

namespace hawk {

/// Has this process run a copy of the code of the library that malloc is in, from here on. Probes for all processes
/// that map the library's file would otherwise interrupt each of our own allocations, of which reading a large file
/// takes a million. Where that is not possible, as where nobody may execute memory that he has filled, the process
/// stays slow. More than one call does nothing. May be called while other threads run that code.
void move_own_code();

/// Whether move_own_code() has been called.
bool own_code_is_moved();

}  // namespace hawk
