/* realloc(p, 0) frees p. */
#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block to_nothing(struct block old) { return REALLOCATED(old, realloc(old.address, 0), 0); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_malloc(i * 21);
    if (i % 2) ledger_require(to_nothing(block).address == NULL, "realloc(p, 0) returns NULL");
  }
  ledger_value("untraced_frees", 0);
  ledger_end();
  return 0;
}
