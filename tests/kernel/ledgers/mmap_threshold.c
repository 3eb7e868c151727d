/* Blocks so large that glibc maps each of them: counted once, as asked for; realloc moves them with mremap. */
#include <malloc.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(1, n), n); }
SITE_FUNCTION struct block by_memalign(size_t n) { return ALLOCATED(memalign(1 << 16, n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}

/* glibc's flag for a mapped chunk, in the word before the block. */
static int is_mapped(struct block block) { return (((size_t*)block.address)[-1] & 2) != 0; }

int main(void) {
  mallopt(M_MMAP_THRESHOLD, 128 << 10); /* fixes it; by itself it would grow with the first free */
  ledger_begin();
  for (size_t i = 1; i <= 50; i++) {
    struct block blocks[] = {by_malloc((1 << 20) + i), by_calloc((1 << 19) + i * 3), by_memalign((1 << 20) + i * 5)};
    for (size_t j = 0; j < 3; j++) {
      ledger_require(is_mapped(blocks[j]), "the block is mapped");
      blocks[j] = by_realloc(blocks[j], (3 << 20) + i * 7);
      ledger_require(is_mapped(blocks[j]), "the block is still mapped");
      if (j != i % 3) release(blocks[j]);
    }
  }
  ledger_end();
  return 0;
}
