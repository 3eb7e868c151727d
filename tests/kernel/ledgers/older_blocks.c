/* Blocks that are older than the trace: their frees are counted apart and touch no stack. */
#include "ledger.h"

SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}

int main(void) {
  struct block older[100];
  for (size_t i = 0; i < 100; i++) older[i] = (struct block){malloc(100 + i), 100 + i, NULL};
  ledger_begin();
  for (size_t i = 0; i < 90; i++) release(older[i]);
  for (size_t i = 90; i < 100; i++) older[i] = by_realloc(older[i], 5000 + i);
  release(older[95]);
  ledger_value("untraced_frees", 100);
  ledger_end();
  return 0;
}
