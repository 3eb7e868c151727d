/* Code that calls malloc from a file that has no name. */
#include "tests/kernel/ledgers/ledger.h"

struct block block_of_library(size_t n) {
  struct block block = {malloc(n), n, NULL};
  __asm__ volatile("" ::: "memory");
  return block;
}
