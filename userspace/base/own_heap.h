#pragma once

#include <cstdint>

namespace hawk {

/// Bytes of this program's heap that are in use. May be asked from any thread.
std::uint64_t own_heap_bytes();

/// Gives back to the system what malloc keeps of the heap for reuse: after the greatest use it would stay for ever.
void trim_own_heap();

}  // namespace hawk
