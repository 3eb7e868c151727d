/* Allocates, writes its ledger, and ends as the first arguments say: "exit CODE", "signal NUMBER", or "wait" for the
 * harness. Argument 3: how many blocks; 500 otherwise. */
#include <signal.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

int main(int argc, char** argv) {
  ledger_require(argc > 1, "an argument says how to end");
  ledger_begin();
  size_t blocks = argc > 3 ? (size_t)atoi(argv[3]) : 500;
  for (size_t i = 1; i <= blocks; i++) {
    struct block block = by_malloc(i * 7);
    if (i % 2) release(block);
  }
  if (strcmp(argv[1], "wait") == 0) {
    ledger_end();
    return 0;
  }
  ledger_close();
  int number = argc > 2 ? atoi(argv[2]) : 0;
  if (strcmp(argv[1], "signal") == 0) raise(number);
  return number;
}
