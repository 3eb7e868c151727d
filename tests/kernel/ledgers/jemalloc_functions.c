/* jemalloc's own functions. Controls that move no block are no loss. */
#include "named_function.h"

enum { kZeroed = 0x40 /* MALLOCX_ZERO */, kBlocks = 100 };
NAMED(void*, mallocx, size_t, int)
NAMED(void*, rallocx, void*, size_t, int)
NAMED(size_t, xallocx, void*, size_t, size_t, int)
NAMED(void, dallocx, void*, int)
NAMED(void, sdallocx, void*, size_t, int)
NAMED(size_t, sallocx, const void*, int)
NAMED(int, mallctl, const char*, void*, size_t*, void*, size_t)

SITE_FUNCTION struct block by_mallocx(size_t n, int flags) { return ALLOCATED(mallocx(n, flags), n); }
SITE_FUNCTION struct block by_rallocx(struct block old, size_t n) {
  return REALLOCATED(old, rallocx(old.address, n, 0), n);
}
/* As many bytes as there are now, up to n + extra; the block as it was where there are fewer than n. */
SITE_FUNCTION struct block by_xallocx(struct block old, size_t n, size_t extra) {
  size_t usable = xallocx(old.address, n, extra, 0);
  if (usable < n) return old;
  size_t bytes = usable < n + extra ? usable : n + extra;
  return REALLOCATED(old, old.address, bytes);
}

static void give_back(struct block block, int sized) {
  if (sized) {
    sdallocx(block.address, block.bytes, 0);
  } else {
    dallocx(block.address, 0);
  }
  ledger_freed(block);
}

int main(void) {
  ledger_begin();
  size_t failed = 0, grown = 0;
  for (size_t i = 1; i <= kBlocks; i++) {
    give_back(by_rallocx(by_mallocx(i * 37, i % 2 ? kZeroed : 0), i * 61), i % 3 == 0);
    struct block small = by_mallocx(i, 0);
    size_t room = sallocx(small.address, 0);
    small = by_xallocx(small, room, 0);            /* fits */
    small = by_xallocx(small, room / 2 + 1, room); /* all that there is */
    const size_t before = small.bytes;
    small = by_xallocx(small, 100 * room, 0); /* does not: it stays */
    failed += small.bytes == before;
    struct block large = by_mallocx(20000, 0);
    large = by_xallocx(large, 20100, 1 << 20); /* grows into what follows, if that is free */
    grown += large.bytes > 20480;
    if (i % 2) give_back(small, 0);
    give_back(large, 0);
  }
  uint64_t epoch = 1;
  size_t bytes = sizeof(epoch);
  ledger_require(mallctl("epoch", &epoch, &bytes, &epoch, bytes) == 0, "mallctl knows the epoch");
  ledger_require(failed == kBlocks, "small blocks cannot grow in place");
  ledger_require(grown > 0, "some large block grows in place");
  ledger_end();
  return 0;
}
