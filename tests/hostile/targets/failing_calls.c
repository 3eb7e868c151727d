/* Calls that fail, in every way that they can: sizes beyond the address space, products that wrap, alignments that are
 * none, a limit on the address space; and malloc(0), which does not. */
#define _GNU_SOURCE
#include <malloc.h>
#include <sys/resource.h>

#include "hostile.h"

SITE_FUNCTION struct block by_aligned_alloc(size_t alignment, size_t n) {
  return ALLOCATED(aligned_alloc(alignment, n), n);
}
SITE_FUNCTION struct block by_memalign(size_t alignment, size_t n) { return ALLOCATED(memalign(alignment, n), n); }
SITE_FUNCTION struct block by_valloc(size_t n) { return ALLOCATED(valloc(n), n); }
SITE_FUNCTION struct block by_pvalloc(size_t n) { return ALLOCATED(pvalloc(n), n); }
SITE_FUNCTION struct block by_reallocarray(struct block old, size_t count, size_t each) {
  void* result = reallocarray(old.address, count, each);
  return result ? REALLOCATED(old, result, count * each) : old;
}

static const size_t kOdd[] = {
    0, 1, 3, 7, 24, 4096, 4097, 1ul << 20, 1ul << 40, 1ul << 62, 1ul << 63, SIZE_MAX - 4095, SIZE_MAX};
enum { kOddCount = sizeof(kOdd) / sizeof(kOdd[0]) };

static void all_odd_calls(void) {
  for (size_t i = 0; i < kOddCount; i++) {
    release(by_malloc(kOdd[i]));
    release(by_valloc(kOdd[i]));
    release(by_pvalloc(kOdd[i]));
    for (size_t j = 0; j < kOddCount; j++) {
      if (kOdd[j] < 1ul << 40) release(by_memalign(kOdd[i], kOdd[j]));
      release(by_aligned_alloc(kOdd[i], kOdd[j]));
      release(by_posix_memalign(kOdd[i], kOdd[j]));
      release(by_reallocarray(by_malloc(10), kOdd[i] | 1, kOdd[j] | 1));
    }
  }
}

int main(void) {
  ledger_begin();
  all_odd_calls();
  struct rlimit limit = {256 << 20, 256 << 20};
  setrlimit(RLIMIT_AS, &limit);
  all_odd_calls();
  ledger_end();
  return 0;
}
