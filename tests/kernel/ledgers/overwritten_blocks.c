/* An allocator of our own that hands addresses out again whose free is not seen, as one does that has several heaps. Of
 * each such address there may be a block in either part of the live table: the arena takes none of 16 MiB or more.
 * Nothing is ever stored there, so that there need not be any memory. */
#include "ledger.h"

enum { kRounds = 100 };
#define LARGE (16ull << 20)

static void* next_result;
static int realloc_fails;
static uint64_t overwritten;
static unsigned char early[1 << 16]; /* what is asked for before the script begins */
static size_t early_used;

__attribute__((noinline, noipa)) void* malloc(size_t n) {
  if (next_result) {
    void* result = next_result;
    next_result = NULL;
    return result;
  }
  size_t at = __atomic_fetch_add(&early_used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + n <= sizeof(early) ? early + at : NULL;
}
__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }
__attribute__((noinline, noipa)) void* realloc(void* block, size_t n) {
  __asm__ volatile("" ::"r"(n));
  return realloc_fails ? NULL : block;
}

SITE_FUNCTION struct block small(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block large(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static struct block at(uint64_t address, size_t n) {
  next_result = (void*)address;
  struct block block = n < LARGE ? small(n) : large(n);
  ledger_require(block.address == (void*)address, "the allocator hands out what it is told to");
  return block;
}

/* The address of `old` again. */
static struct block over(struct block old, size_t n) {
  ledger_freed(old);
  overwritten++;
  return at((uint64_t)old.address, n);
}

static struct block kept_by_failing(struct block old) {
  realloc_fails = 1;
  struct block block = resized(old, 8 * LARGE);
  realloc_fails = 0;
  ledger_require(block.address == old.address && block.bytes == old.bytes, "realloc failed");
  return block;
}

static void each_over_each(uint64_t address, size_t i) {
  struct block block = at(address, 10 + i);
  block = over(block, 20 + i);
  block = over(block, LARGE + i);
  block = over(block, 2 * LARGE + i);
  block = over(block, 30 + i);
  /* What a failed realloc has put back is where blocks are that the arena cannot take. */
  block = kept_by_failing(block);
  block = over(block, 40 + i);
  block = kept_by_failing(block);
  block = over(block, 3 * LARGE + i);
  block = kept_by_failing(block);
  block = over(block, 50 + i);
  if (i % 3) release(block);
}

int main(void) {
  ledger_begin();
  for (uint64_t i = 0; i < kRounds; i++) each_over_each(0x200000001000 + (i << 16), i);
  ledger_loss("live_overwritten", overwritten);
  ledger_value("untraced_frees", 0);
  ledger_end();
  return 0;
}
