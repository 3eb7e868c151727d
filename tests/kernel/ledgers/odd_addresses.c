/* An allocator of our own that hands out many addresses which the arena's slots cannot hold. Nothing is ever stored
 * there, so that there need not be any memory. */
#include "ledger.h"

enum { kBlocks = 50000, kBytes = 24 };

static uint64_t next_address;
static unsigned char early[1 << 16]; /* what is asked for before the script begins */
static size_t early_used;

__attribute__((noinline, noipa)) void* malloc(size_t n) {
  if (next_address) return (void*)(next_address += 64);
  size_t at = __atomic_fetch_add(&early_used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + n <= sizeof(early) ? early + at : NULL;
}
__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }

/* Counts nothing: how many of these can be kept is for the test to find out. */
SITE_FUNCTION void* odd(size_t n) { return malloc(n); }

int main(void) {
  ledger_begin();
  next_address = 0x7f0000000001;
  for (int i = 0; i < kBlocks; i++) odd(kBytes);
  next_address = 0;
  ledger_value("blocks", kBlocks);
  ledger_end();
  return 0;
}
