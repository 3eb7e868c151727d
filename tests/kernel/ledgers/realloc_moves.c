/* realloc that must move the block: it is followed by another one. */
#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block barrier(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block move(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block small = by_malloc(40 + i % 60); /* so small that a freed one never merges with its neighbours */
    barrier(24);
    struct block moved = move(small, 20000 + i);
    ledger_require(moved.address != small.address, "the block moves");
    if (i % 2) release(moved);
  }
  ledger_end();
  return 0;
}
