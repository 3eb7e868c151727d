/* Replaces its own program during the trace: the heap of the first one is gone, the numbers are those of the second. */
#include "ledger.h"

enum { kBlocks = 20000, /* twice what the smallest live table holds */ kOlder = 30 };

SITE_FUNCTION void* before_exec(size_t n) { return malloc(n); }
SITE_FUNCTION struct block after_exec(size_t n) { return ALLOCATED(malloc(n), n); }

int main(int argc, char** argv) {
  if (argc == 1) {
    char* again[] = {argv[0], (char*)"again", NULL};
    void* older[kOlder];
    for (size_t i = 0; i < kOlder; i++) ledger_require((older[i] = before_exec(40)) != NULL, "malloc works");
    ledger_begin();
    for (size_t i = 0; i < kOlder; i++) free(older[i]);
    for (size_t i = 1; i <= kBlocks; i++) ledger_require(before_exec(i % 100) != NULL, "malloc works");
    execv("/proc/self/exe", again);
    ledger_require(0, "execv works");
  }
  for (size_t i = 1; i <= kBlocks; i++) {
    struct block block = after_exec(i % 300);
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
