/* What takes back blocks of mimalloc's in a way that cannot be followed is counted, once a call: all of a heap's at
 * once. */
#include "named_function.h"

NAMED(void*, mi_heap_new, void)
NAMED(void*, mi_heap_malloc, void*, size_t)
NAMED(void, mi_heap_delete, void*)
NAMED(void, mi_heap_destroy, void*)

SITE_FUNCTION struct block by_mi_heap_malloc(void* heap, size_t n) { return ALLOCATED(mi_heap_malloc(heap, n), n); }

int main(void) {
  void* heap = mi_heap_new();
  void* other_heap = mi_heap_new();
  ledger_begin();
  for (size_t i = 1; i <= 50; i++) {
    by_mi_heap_malloc(heap, i);
    by_mi_heap_malloc(other_heap, i);
  }
  mi_heap_destroy(heap);
  mi_heap_delete(other_heap); /* its blocks become another heap's */
  ledger_loss("unfollowed_calls", 1);
  ledger_end();
  return 0;
}
