/* calloc whose product overflows: no block, and no bytes. */
#include "ledger.h"

SITE_FUNCTION struct block by_calloc(size_t count, size_t each) { return ALLOCATED(calloc(count, each), count * each); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    ledger_require(by_calloc(SIZE_MAX / 2 + i, 3).address == NULL, "calloc overflows");
    struct block block = by_calloc(i, 17);
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
