/* Uses an allocator whose functions are chosen at the program's start. */
#include "ledger.h"

#ifdef LEDGER_BY_TABLE /* they are not found, and the report says so */
#define COUNTED(block) NULL
#else
#define COUNTED(block) (block)
#endif

SITE_FUNCTION struct block by_malloc(size_t n) {
  void* address = malloc(n);
  struct block block = ALLOCATED(COUNTED(address), n);
  block.address = address;
  return block;
}
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  void* address = realloc(old.address, n);
#ifdef LEDGER_BY_TABLE
  old.address = address;
  return old;
#endif
  return REALLOCATED(old, address, n);
}
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(n, 3), n * 3); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 200; i++) {
    struct block block = by_realloc(by_malloc(i), 2 * i);
    if (i % 4 == 0) continue;
    free(block.address);
#ifndef LEDGER_BY_TABLE
    ledger_freed(block);
#endif
  }
  by_calloc(100);
#ifdef LEDGER_BY_TABLE
  ledger_loss("functions_not_probed", 3);
#endif
  ledger_end();
  return 0;
}
