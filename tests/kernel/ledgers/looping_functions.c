/* Calls of looping_allocator.c. */
#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_realloc(by_malloc(i), 3 * i);
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
