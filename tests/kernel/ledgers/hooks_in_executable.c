/* A hook of an allocator that is the executable's own, and allocates: nothing distinguishes the hook from the
 * allocator's other functions. Its calls count only as hidden. */
#include "leaving_allocator.h"

enum { kRounds = 40 };

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block in_hook(size_t n) { return ALLOCATED(malloc(n), n); }

static struct block of_hook;

static void leave(void) { of_hook = in_hook(100); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= kRounds; i++) {
    struct block own = by_malloc(i), hooked = by_malloc(kMagicSize);
    if (i % 2) release(own);
    if (i % 3) release(hooked);
  }
  ledger_loss("hidden_calls", kRounds);
  ledger_end();
  return 0;
}
