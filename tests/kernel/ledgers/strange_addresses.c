/* An allocator of our own, in the executable, that hands out addresses which the arena's slots cannot hold, and sizes
 * that they cannot hold either. Nothing is ever stored there, so that there need not be any memory. */
#include "ledger.h"

enum { kBlocks = 300 };

static void* next_result;
static unsigned char early[1 << 16]; /* what is asked for before the script begins */
static size_t early_used;

__attribute__((noipa)) void* malloc(size_t n) {
  if (next_result) {
    void* result = next_result;
    next_result = NULL;
    return result;
  }
  size_t at = __atomic_fetch_add(&early_used, (n + 31) & ~(size_t)15, __ATOMIC_RELAXED);
  return at + n <= sizeof(early) ? early + at : NULL;
}
__attribute__((noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block)); }
/* Stays where it is, whatever the size. */
__attribute__((noipa)) void* realloc(void* block, size_t n) {
  __asm__ volatile("" ::"r"(n));
  return block;
}

SITE_FUNCTION struct block at_32_gib(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block at_odd(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block above_47_bits(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block of_4_gib(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block ordinary(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static struct block at(uint64_t address, struct block (*function)(size_t), size_t n) {
  next_result = (void*)address;
  struct block block = function(n);
  ledger_require(block.address == (void*)address, "the allocator hands out what it is told to");
  return block;
}

static void some_of_each(void) {
  static struct block blocks[6][kBlocks];
  for (uint64_t i = 0; i < kBlocks; i++) {
    blocks[0][i] = at((i + 1) << 35, at_32_gib, 10 + i);
    blocks[1][i] = at(0x7f0000000000 + i * 64 + 1 + i % 7, at_odd, 20 + i);
    blocks[2][i] = at((1ull << 47) + (i << 12), above_47_bits, 30 + i);
    blocks[3][i] = at(0x100000000000 + (i << 33) + 16, of_4_gib, (4ull << 30) + i);
    /* The neighbours of each: only the lowest or the highest bits differ. */
    blocks[4][i] = at(((i + 1) << 35) + 8, ordinary, 40 + i);
    blocks[5][i] = at(0x7f0000000000 + i * 64, ordinary, 50 + i);
  }
  for (int kind = 0; kind < 6; kind++)
    for (size_t i = 0; i < kBlocks; i++)
      if ((i + (size_t)kind) % 3) release(blocks[kind][i]);
}

/* The same address, with a size that fits into a slot and one that does not, again and again. */
static void one_address(void) {
  for (size_t i = 0; i < kBlocks; i++) {
    struct block block = at(0x200000001000, i % 2 ? of_4_gib : ordinary, i % 2 ? (5ull << 30) + i : i);
    block = resized(block, (6ull << 30) + i);
    block = resized(block, 60 + i);
    if (i % 3 == 0) block = resized(block, (7ull << 30) + i);
    release(block);
  }
}

int main(void) {
  ledger_begin();
  some_of_each();
  one_address();
  ledger_end();
  return 0;
}
