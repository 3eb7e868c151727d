/* A posix_memalign that gives null for 0 bytes, as POSIX permits, and is no failure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

static _Alignas(64) char pool[1 << 20];
static size_t used;

__attribute__((noinline)) static void* fetch(size_t alignment, size_t bytes) {
  size_t at = (used + alignment - 1) & -alignment;

  used = at + bytes;
  return used <= sizeof(pool) ? pool + at : NULL;
}

__attribute__((noinline)) void* malloc(size_t n) { return fetch(16, n); }
__attribute__((noinline)) void free(void* block) { __asm__ volatile("" : : "r"(block) : "memory"); }
__attribute__((noinline)) int posix_memalign(void** block, size_t alignment, size_t n) {
  *block = n ? fetch(alignment, n) : NULL;
  return n && !*block ? ENOMEM : 0;
}

SITE_FUNCTION struct block by_memalign(size_t n) {
  void* block = NULL;

  ledger_require(posix_memalign(&block, 64, n) == 0, "there is room");
  return ALLOCATED(block, n);
}

SITE_FUNCTION void of_nothing(void) {
  void* block = pool;

  ledger_require(posix_memalign(&block, 64, 0) == 0 && !block, "null, and no failure");
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 40; i++) {
    struct block block = by_memalign(i);

    of_nothing();
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
