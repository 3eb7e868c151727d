/* What hands out and takes back blocks of mimalloc's in a way that cannot be followed is counted, once a call. */
#include "named_function.h"

NAMED(void*, mi_heap_new, void)
NAMED(void*, mi_heap_malloc, void*, size_t)
NAMED(void, mi_heap_destroy, void*)
NAMED(char*, mi_strdup, const char*)
NAMED(char*, mi_heap_strndup, void*, const char*, size_t)
NAMED(int, mi_dupenv_s, char**, size_t*, const char*)

SITE_FUNCTION struct block by_mi_heap_malloc(void* heap, size_t n) { return ALLOCATED(mi_heap_malloc(heap, n), n); }

int main(void) {
  void* heap = mi_heap_new();
  void* other_heap = mi_heap_new();
  setenv("LEDGER_TEXT", "text", 1);
  ledger_begin();
  for (size_t i = 1; i <= 50; i++) by_mi_heap_malloc(heap, i);
  mi_heap_destroy(heap);
  ledger_require(mi_strdup("text") != NULL, "mi_strdup succeeds");
  ledger_require(mi_heap_strndup(other_heap, "text", 2) != NULL, "mi_heap_strndup succeeds");
  char* copy = NULL;
  ledger_require(mi_dupenv_s(&copy, NULL, "LEDGER_TEXT") == 0 && copy, "mi_dupenv_s succeeds");
  ledger_loss("unfollowed_calls", 4);
  ledger_end();
  return 0;
}
