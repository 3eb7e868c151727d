/* Blocks about and beyond 16 MiB, from which on the arena takes none, and 4 GiB. Only their address space is used. */
#include "ledger.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(1, n), n); }
SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(GIB, n), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static struct block have(struct block block) {
  ledger_require(block.address != NULL, "the system has 6 GiB of address space to give (vm.overcommit_memory, limits)");
  return block;
}

int main(void) {
  ledger_begin();
  for (size_t n = 16 * MIB - 2; n <= 16 * MIB + 1; n++) release(have(by_malloc(n)));
  release(have(by_malloc(4 * GIB - 1)));
  release(have(by_malloc(4 * GIB)));
  release(have(by_malloc(5 * GIB)));
  release(have(by_calloc(5 * GIB + 1)));
  release(have(by_aligned_alloc(4 * GIB)));
  /* From one table into the other and back. */
  struct block block = have(by_malloc(100));
  block = have(resized(block, 16 * MIB));
  block = have(resized(block, 16 * MIB - 1));
  block = have(resized(block, 5 * GIB));
  block = have(resized(block, 6 * GIB));
  block = have(resized(block, 200));
  release(block);
  have(by_malloc(5 * GIB)); /* live at the end */
  ledger_end();
  return 0;
}
