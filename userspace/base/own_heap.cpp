#include "userspace/base/own_heap.h"

#include <malloc.h>

namespace hawk {

std::uint64_t own_heap_bytes() {
  const struct mallinfo2 all = ::mallinfo2();
  return all.uordblks + all.hblkhd;  // in arenas, and in mappings of their own
}

void trim_own_heap() { ::malloc_trim(0); }

}  // namespace hawk
