/* More stacks than the stack table has room for (the test gives it 8): every block is still counted in the totals, the
 * rest without a stack. */
#include "ledger.h"

enum { kDepths = 40 };

SITE_FUNCTION struct block at_depth(size_t depth, size_t n) {
  struct block block;
  if (depth > 0)
    block = at_depth(depth - 1, n);
  else
    block = ALLOCATED(malloc(n), n);
  __asm__ volatile("" ::: "memory");
  return block;
}

int main(void) {
  ledger_begin();
  for (size_t depth = 0; depth < kDepths; depth++)
    for (size_t i = 0; i < 10; i++) {
      struct block block = at_depth(depth, 1 + depth + i);
      if (i % 2) release(block);
    }
  ledger_end();
  return 0;
}
