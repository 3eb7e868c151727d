/* Calls of hidden_ways_allocator.c. */
#include <malloc.h>
#include <signal.h>

#include "ledger.h"

void* valloc(size_t size);

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(16, n), n); }
SITE_FUNCTION struct block by_memalign(size_t n) { return ALLOCATED(memalign(16, n), n); }
SITE_FUNCTION struct block by_valloc(size_t n) { return ALLOCATED(valloc(n), n); }

static void return_from_trap(int number) { (void)number; }

int main(void) {
  struct sigaction action = {.sa_handler = return_from_trap};
  ledger_require(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction works");
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block blocks[] = {by_malloc(i), by_aligned_alloc(i), by_memalign(i), by_valloc(i)};
    for (size_t j = 0; j < 4; j++) {
      if ((i + j) % 3) release(blocks[j]);
    }
  }
  ledger_end();
  return 0;
}
