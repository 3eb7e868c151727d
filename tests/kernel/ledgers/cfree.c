/* cfree, of which glibc keeps only the old version for old programs: an alias of free that must be counted once. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

int main(void) {
  void (*cfree)(void*) = (void (*)(void*))dlvsym(RTLD_DEFAULT, "cfree", "GLIBC_2.2.5");
  ledger_require(cfree != NULL, "libc has cfree");
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_malloc(i * 11);
    if (i % 3) continue;
    cfree(block.address);
    ledger_freed(block);
  }
  free(NULL);
  cfree(NULL);
  ledger_end();
  return 0;
}
