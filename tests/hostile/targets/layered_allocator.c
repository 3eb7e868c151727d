/* An allocator in layers, as programs have them that bring their own: each function asks another one for more than was
 * asked for, through functions that are not exported, and gives out what lies behind a header of its own. */
#include "own_allocator.h"

enum { kHeader = 32 };

static __attribute__((noipa)) void* take_chunk(size_t n) { return malloc(n); }
static __attribute__((noipa)) void* behind_header(size_t n) {
  size_t* header = take_chunk(n + kHeader);
  if (header) *header = n;
  return header ? (char*)header + kHeader : NULL;
}

__attribute__((noipa)) int posix_memalign(void** result, size_t alignment, size_t n) {
  *result = NULL;
  uintptr_t chunk = (uintptr_t)behind_header(n + alignment);
  if (!chunk) return 12;
  *result = (void*)((chunk + alignment - 1) & -alignment);
  return 0;
}
__attribute__((noipa)) void* aligned_alloc(size_t alignment, size_t n) {
  void* result = NULL;
  return posix_memalign(&result, alignment, n) ? NULL : result;
}
__attribute__((noipa)) void* valloc(size_t n) {
  void* volatile block = aligned_alloc(4096, n);
  return block;
}

SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(64, n), n); }
SITE_FUNCTION struct block by_valloc(size_t n) { return ALLOCATED(valloc(n), n); }

int main(void) {
  ledger_begin();
  allocate_a_while(500);
  for (size_t i = 1; i <= 100; i++) {
    struct block aligned = by_aligned_alloc(i), paged = by_valloc(i * 3);
    if (i % 2) release(aligned);
    if (i % 3) release(paged);
  }
  ledger_end();
  return 0;
}
