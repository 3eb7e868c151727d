/* Blocks of every size class from 0 to 8 GiB, of which only the address space is used, and lives of every kind: freed
 * at once, freed after others were allocated, freed after the clock has been moved on, and kept. */
#include "ledger.h"

enum { kPowers = 33 };

SITE_FUNCTION struct block of_all_sizes(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block temporary(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block lasting(size_t n) { return ALLOCATED(malloc(n), n); }

static struct block have(struct block block) {
  ledger_require(block.address != NULL, "the system has 8 GiB of address space to give (vm.overcommit_memory, limits)");
  return block;
}

/* The first and the last of each class, and 8 GiB. */
static size_t size_number(size_t i) {
  size_t power = i / 2;
  if (i == 0) return 0;
  return i % 2 || i == 2 * kPowers ? (size_t)1 << power : ((size_t)2 << power) - 1;
}

int main(void) {
  struct block kept[10];
  ledger_begin();
  /* All from one place. */
  for (size_t i = 0; i <= 2 * kPowers; i++) release(have(of_all_sizes(size_number(i))));
  for (int i = 0; i < 25; i++) release(have(temporary(50)));
  for (int i = 0; i < 10; i++) kept[i] = have(lasting(70));
  for (int i = 0; i < 3; i++) {
    ledger_write("phase\n", 6);
    ledger_wait(); /* the clock moves on */
    release(kept[2 * i]);
    release(kept[2 * i + 1]);
  }
  ledger_end();
  return 0;
}
