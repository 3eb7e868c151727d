/* Blocks above and below the 4096 bytes that the test names with --min-block. Only those of 4096 and more are to be
 * followed; frees of the others are frees of blocks that are not known. */
#include "ledger.h"

enum { kRounds = 500, kSmall = 4095, kLarge = 4096 };

SITE_FUNCTION struct block large(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block large_zeroed(size_t n) { return ALLOCATED(calloc(4, n / 4), n); }
SITE_FUNCTION void* small(size_t n) { return malloc(n); }
SITE_FUNCTION struct block grown(void* from, size_t n) { return ALLOCATED(realloc(from, n), n); }
/* Gives a followed block back and gets one that is not. */
SITE_FUNCTION void* shrunk(struct block from, size_t n) {
  void* address = realloc(from.address, n);
  ledger_freed(from);
  return address;
}

int main(void) {
  uint64_t untraced = 0;
  ledger_begin();
  for (size_t i = 0; i < kRounds; i++) {
    struct block kept = large(kLarge + i), zeroed = large_zeroed(kLarge);
    void* volatile unseen = small(kSmall - i);
    release(zeroed);
    free(unseen);
    struct block from_small = grown(small(100), kLarge + i); /* the realloc frees a block that is not known */
    free(shrunk(from_small, kSmall));
    untraced += 3;
    if (i % 2) release(kept);
  }
  ledger_value("untraced_frees", untraced);
  ledger_end();
  return 0;
}
