/* free_sized and free_aligned_sized: they call free in turn, and each block is freed once. */
#include "ledger.h"

void free_sized(void* address, size_t bytes);
void free_aligned_sized(void* address, size_t alignment, size_t bytes);

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(64, n), n); }

int main(void) {
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block plain = by_malloc(i * 13), aligned = by_aligned_alloc(i * 64);
    if (i % 4 == 0) continue;
    free_sized(plain.address, plain.bytes);
    ledger_freed(plain);
    free_aligned_sized(aligned.address, 64, aligned.bytes);
    ledger_freed(aligned);
  }
  ledger_value("untraced_frees", 0);
  ledger_end();
  return 0;
}
