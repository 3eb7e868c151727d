/* posix_memalign that refuses its alignment: no block, although the result still holds the address of an earlier one.
 */
#include "ledger.h"

static void* result;

SITE_FUNCTION struct block by_posix_memalign(size_t alignment, size_t n) {
  int error = posix_memalign(&result, alignment, n);
  return ALLOCATED(error ? NULL : result, n);
}

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_posix_memalign(64, i * 33);
    ledger_require(block.address != NULL, "posix_memalign(64) succeeds");
    ledger_require(by_posix_memalign(24, i * 44).address == NULL, "posix_memalign(24) fails");
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
