/* Every allocating function of libc, sizes of all magnitudes, half of the blocks freed. */
#define _GNU_SOURCE
#include <malloc.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(n, 3), n * 3); }
SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(64, n), n); }
SITE_FUNCTION struct block by_memalign(size_t n) { return ALLOCATED(memalign(256, n), n); }
SITE_FUNCTION struct block by_posix_memalign(size_t n) {
  void* address = NULL;
  ledger_require(posix_memalign(&address, 128, n) == 0, "posix_memalign succeeds");
  return ALLOCATED(address, n);
}
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}
SITE_FUNCTION struct block by_reallocarray(struct block old, size_t n) {
  return REALLOCATED(old, reallocarray(old.address, n, 5), n * 5);
}
#ifndef LEDGER_PORTABLE /* jemalloc replaces free, but not these two */
SITE_FUNCTION struct block by_valloc(size_t n) { return ALLOCATED(valloc(n), n); }
SITE_FUNCTION struct block by_pvalloc(size_t n) { return ALLOCATED(pvalloc(n), n); }
#endif

static void keep_every_second(struct block block, size_t number) {
  if (number % 2) release(block);
}

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < 200; i++) {
    size_t n = 1 + i * i * 7 % 9973; /* 1 byte to 10 kB */
    keep_every_second(by_malloc(n), i);
    keep_every_second(by_calloc(n), i);
    keep_every_second(by_aligned_alloc(n), i);
    keep_every_second(by_memalign(n), i);
    keep_every_second(by_posix_memalign(n), i);
    keep_every_second(by_realloc(by_malloc(n), n * 2), i);
    keep_every_second(by_reallocarray(by_malloc(n), n), i);
#ifndef LEDGER_PORTABLE
    keep_every_second(by_valloc(n), i);
    keep_every_second(by_pvalloc(n), i);
#endif
  }
  keep_every_second(by_malloc(0), 0); /* a block of no bytes is a block */
  ledger_end();
  return 0;
}
