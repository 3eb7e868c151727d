/* A library in the same directory has 20,000 functions with names of an allocator (many_functions_library.c). */
#include "hostile.h"

void* mi_malloc(size_t n);
void mi_free(void* block);
SITE_FUNCTION struct block by_mi_malloc(size_t n) { return ALLOCATED(mi_malloc(n), n); }

int main(void) {
  ledger_begin();
  allocate_a_while(100);
  for (size_t i = 1; i < 100; i++) {
    struct block block = by_mi_malloc(i);
    if (i % 2) {
      mi_free(block.address);
      ledger_freed(block);
    }
  }
  ledger_end();
  return 0;
}
