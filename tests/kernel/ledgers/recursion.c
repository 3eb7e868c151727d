/* One allocation 300 calls deep: its stack is cut and flagged, its numbers are right. */
#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block descend(size_t levels, size_t n) {
  struct block block = levels ? descend(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

int main(void) {
  ledger_begin();
  descend(300, 777);
  ledger_loss("truncated_stacks", 1);
  ledger_value("stacks", 1);
  ledger_end();
  return 0;
}
