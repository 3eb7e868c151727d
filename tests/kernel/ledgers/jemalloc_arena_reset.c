/* Frees all blocks of an arena at once, which cannot be followed: by name and by number. */
#include <stdio.h>

#include "named_function.h"

NAMED(void*, mallocx, size_t, int)
NAMED(int, mallctl, const char*, void*, size_t*, void*, size_t)
NAMED(int, mallctlnametomib, const char*, size_t*, size_t*)
NAMED(int, mallctlbymib, const size_t*, size_t, void*, size_t*, void*, size_t)

SITE_FUNCTION struct block by_mallocx(size_t n, int flags) { return ALLOCATED(mallocx(n, flags), n); }

int main(void) {
  unsigned arena = 0;
  size_t bytes = sizeof(arena);
  ledger_require(mallctl("arenas.create", &arena, &bytes, NULL, 0) == 0, "an arena is created");
  char name[64];
  snprintf(name, sizeof(name), "arena.%u.reset", arena);
  const int in_arena = (int)((arena + 1) << 20 | 1u << 8); /* MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE */
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) by_mallocx(i, in_arena);
  ledger_require(mallctl(name, NULL, NULL, NULL, 0) == 0, "the arena is reset");
  size_t number[3], count = 3;
  ledger_require(mallctlnametomib(name, number, &count) == 0, "the control has a number");
  ledger_require(mallctlbymib(number, count, NULL, NULL, NULL, 0) == 0, "the arena is reset again");
  ledger_loss("unfollowed_calls", 2);
  ledger_end();
  return 0;
}
