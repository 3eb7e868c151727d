/* realloc(NULL, n) is malloc(n): glibc jumps there, and the block is counted once. */
#include "ledger.h"

SITE_FUNCTION struct block by_realloc(size_t n) { return ALLOCATED(realloc(NULL, n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_realloc(i * 21);
    if (i % 2) release(block);
  }
  ledger_value("untraced_frees", 0);
  ledger_end();
  return 0;
}
