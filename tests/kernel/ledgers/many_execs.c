/* Replaces its own program some hundred times, each time at the same addresses, and leaves blocks behind in every part
 * of the live table: more often than the few bits for the program in a key can distinguish. The numbers are those of
 * the last one. */
#include <stdio.h>
#include <sys/personality.h>

#include "ledger.h"

enum { kPrograms = 300, kBlocks = 300 };
#define LARGE (5ull << 30) /* the arena takes none of these */

static struct block blocks[kBlocks];
static struct block large_block;

SITE_FUNCTION struct block small(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block large(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static void leave_blocks(int number) {
  for (size_t i = 0; i < kBlocks; i++) blocks[i] = small(1 + i * (size_t)number % 500);
  large_block = large(LARGE + (size_t)number);
  ledger_require(large_block.address != NULL, "the system has 5 GiB of address space to give");
  /* It fails, and puts back what it had taken. */
  ledger_require(resized(blocks[0], (size_t)1 << 60).address == blocks[0].address, "realloc fails");
}

static void run_next(char* self, int number) {
  char text[16];
  char* next[] = {self, text, NULL};
  snprintf(text, sizeof(text), "%d", number + 1);
  execv("/proc/self/exe", next);
  ledger_require(0, "execv works");
}

int main(int argc, char** argv) {
  int number = argc > 1 ? atoi(argv[1]) : 0;
  if (number == 0) {
    ledger_begin();
    ledger_require(personality(ADDR_NO_RANDOMIZE) != -1, "addresses can be made to repeat");
  }
  leave_blocks(number);
  if (number < kPrograms) run_next(argv[0], number);
  for (size_t i = 0; i < kBlocks; i += 2) release(blocks[i]);
  release(large_block);
  ledger_end();
  return 0;
}
