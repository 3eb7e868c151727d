/* posix_memalign writes its result to a page that comes by userfaultfd: it is there when the call returns. */
#include "faulting_memory.h"

enum { kPages = 500 };

SITE_FUNCTION struct block result_on_page(void** page, size_t n) {
  return ALLOCATED(posix_memalign(page, 32, n) == 0 ? *page : NULL, n);
}

int main(void) {
  char* pages = faulting_memory(kPages * 4096ul);
  ledger_begin();
  for (size_t i = 0; i < kPages; i++) {
    struct block block = result_on_page((void**)(pages + 4096 * i + 8 * (i % 512)), i + 1);
    if (i % 2) release(block);
  }
  ledger_end();
  return provided == kPages ? 0 : 1;
}
