/* A hook of the program's allocates while a call of the allocator is open, itself or by way of another function of the
 * allocator's file; a hook that has to be distinguished from the allocator's own functions by nothing but its name. */
#include "own_allocator.h"

SITE_FUNCTION struct block in_hook(size_t n) { return ALLOCATED(malloc(n), n); }

static volatile int is_inside;

static void allocate(size_t n) {
  if (is_inside) return;
  is_inside = 1;
  struct block block = in_hook(n + 100);
  if (n % 3) release(block);
  is_inside = 0;
}

int main(void) {
  ledger_begin();
  in_malloc = allocate;
  for (size_t i = 0; i < 500; i++) {
    struct block block = by_malloc(i % 50 + 1);
    if (i % 2) release(block);
  }
  in_malloc = NULL;
  ledger_end();
  return 0;
}
