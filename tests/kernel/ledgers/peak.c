/* A peak between two readings: much is allocated and given back before the next one. */
#include "ledger.h"

enum { kBlocks = 64, kBytes = 100000 };

SITE_FUNCTION struct block base(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block hidden(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block seen(size_t n) { return ALLOCATED(malloc(n), n); }

static struct block blocks[kBlocks];

int main(void) {
  struct block some;
  ledger_begin();
  base(kBytes);
  ledger_write("phase\n", 6); /* read: only the base */
  ledger_wait();
  for (size_t i = 0; i < kBlocks; i++) blocks[i] = hidden(kBytes);
  for (size_t i = 0; i < kBlocks; i++) release(blocks[i]);
  some = seen(2 * kBytes);
  ledger_write("phase\n", 6); /* read: the base and what is seen */
  ledger_wait();
  release(some);
  ledger_value("peak", (uint64_t)(kBlocks + 1) * kBytes);
  ledger_value("seen", 3 * kBytes);
  ledger_value("most", (uint64_t)(kBlocks + 1) * kBytes + 2 * kBytes);
  ledger_end();
  return 0;
}
