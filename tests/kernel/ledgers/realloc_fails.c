/* realloc and reallocarray that fail, for lack of address space or by overflow: the old block remains live. */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/resource.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}
SITE_FUNCTION struct block by_reallocarray(struct block old, size_t n) {
  void* address = reallocarray(old.address, n, SIZE_MAX / 2);
  ledger_require(address == NULL, "reallocarray overflows");
  return old;
}
SITE_FUNCTION struct block too_large(size_t n) { return ALLOCATED(malloc(n), n); }

int main(void) {
  const struct rlimit limit = {256 << 20, 256 << 20};
  ledger_require(setrlimit(RLIMIT_AS, &limit) == 0, "RLIMIT_AS can be set");
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block old = by_malloc(i * 30);
    struct block same = by_realloc(old, (size_t)1 << 30);
    ledger_require(same.address == old.address && same.bytes == old.bytes, "realloc fails");
    same = by_reallocarray(same, i + 4);
    ledger_require(too_large((size_t)1 << 30).address == NULL, "malloc fails");
    if (i % 3 == 0) release(same);
    if (i % 3 == 1) release(by_realloc(same, i * 60));
  }
  ledger_end();
  return 0;
}
