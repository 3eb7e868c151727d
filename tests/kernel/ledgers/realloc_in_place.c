/* realloc that has room: the address stays, the requested size changes hands. */
#include <malloc.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block grow(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block small = by_malloc(i * 16);
    struct block grown = grow(small, malloc_usable_size(small.address));
    ledger_require(grown.address == small.address && grown.bytes > small.bytes, "the block grows in place");
    if (i % 2) release(grown);
  }
  ledger_end();
  return 0;
}
