/* realloc to a smaller size: fewer bytes, the same block. */
#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block shrink(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block large = by_malloc(5000 + i);
    struct block less = shrink(large, 10 + i);
    ledger_require(less.address == large.address, "the block stays");
    if (i % 2) release(less);
  }
  ledger_end();
  return 0;
}
