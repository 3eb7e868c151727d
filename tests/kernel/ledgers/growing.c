/* Uses so many MiB of memory from before its ledger begins, of which each page is touched: argument 1. Then it
 * allocates by script. */
#include "ledger.h"

enum { kMib = 1 << 20, kBlocks = 100 };

SITE_FUNCTION void keep_some(struct block* blocks) {
  for (int i = 0; i < kBlocks; i++) blocks[i] = ALLOCATED(malloc(1000), 1000);
}

int main(int argc, char** argv) {
  static struct block blocks[kBlocks];
  size_t bytes = (argc > 1 ? (size_t)atoi(argv[1]) : 1) * kMib;
  char* old = malloc(bytes);
  ledger_require(old != NULL, "there is memory");
  memset(old, 1, bytes);
  ledger_begin();
  keep_some(blocks);
  for (int i = 0; i < kBlocks; i += 2) release(blocks[i]);
  ledger_end();
  return 0;
}
