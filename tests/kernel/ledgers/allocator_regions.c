/* What an allocator maps is its own: blocks of all sizes, beside what the program maps itself, also while it is inside
 * a call: by a signal handler. */
#define _GNU_SOURCE
#include <signal.h>

#include "regions.h"

enum { kBlocks = 200, kLarge = 3 << 20 };

static struct block small[kBlocks], large[kBlocks];

SITE_FUNCTION struct block in_small(size_t bytes) { return ALLOCATED(malloc(bytes), bytes); }
SITE_FUNCTION struct block in_large(size_t bytes) { return ALLOCATED(malloc(bytes), bytes); }
SITE_FUNCTION struct block in_zeroed(size_t bytes) { return ALLOCATED(calloc(1, bytes), bytes); }
SITE_FUNCTION struct block in_grown(struct block old, size_t bytes) {
  return REALLOCATED(old, realloc(old.address, bytes), bytes);
}
SITE_FUNCTION char* in_program(size_t pages) { return map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }
SITE_FUNCTION char* in_handler(size_t pages) { return map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1); }

static void on_signal(int number) {
  (void)number;
  in_handler(3);
}

int main(void) {
  signal(SIGUSR1, on_signal);
  ledger_begin();
  for (size_t i = 0; i < kBlocks; i++) {
    small[i] = in_small(100 + i * 50);
    large[i] = i % 2 ? in_large(kLarge + i) : in_zeroed(kLarge + i);
    in_program(5);
    if (i % 8 == 0) large[i] = in_grown(large[i], 2 * kLarge);
    if (i % 3 == 0) release(large[i]);
    if (i % 5 == 0) release(small[i]);
  }
  raise(SIGUSR1);
  region_line("in_program/anonymous/program", 5 * kBlocks, 0);
  region_line("in_handler/anonymous/program", 3, 0);
  ledger_end();
  return 0;
}
