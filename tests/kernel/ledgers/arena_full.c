/* Many more blocks than a table of 1000 is made for (an arena rounds that up to whole pages). How many are kept is the
 * table's affair; that each is either kept or counted as lost, and none twice, is what the test adds up. Each
 * function's blocks have one size, so that the bytes of those that were kept are known. */
#include "ledger.h"

enum { kBlocks = 60000, kAgain = 500, kSmallBytes = 40, kLargeBytes = 104 };

static void* made[kBlocks];

/* These count nothing: only the test knows how many were kept. */
SITE_FUNCTION void* small_block(size_t n) { return malloc(n); }
SITE_FUNCTION void* large_block(size_t n) { return malloc(n); }
SITE_FUNCTION struct block fits_again(size_t n) { return ALLOCATED(malloc(n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < kBlocks; i++) {
    made[i] = i % 2 ? small_block(kSmallBytes) : large_block(kLargeBytes);
    ledger_require(made[i] != NULL, "malloc works");
    memset(made[i], (int)i, kSmallBytes);
  }
  /* Nearly all of them, in another order. */
  for (size_t i = 0; i < kBlocks; i++) {
    size_t at = i * 7919 % kBlocks;
    ledger_require(*(unsigned char*)made[at] == (unsigned char)at, "blocks keep their content");
    if (at % 100) free(made[at]);
  }
  for (size_t i = 0; i < kAgain; i++) {
    struct block block = fits_again(1 + i);
    if (i % 2) release(block);
  }
  ledger_value("blocks", kBlocks);
  ledger_value("frees", kBlocks - kBlocks / 100);
  ledger_value("small_bytes", kSmallBytes);
  ledger_value("large_bytes", kLargeBytes);
  ledger_end();
  return 0;
}
