/* Frees all blocks of an arena at once, or allocates many, which cannot be followed: by name and by number, of which
 * one was made before the trace. */
#include <stdio.h>

#include "named_function.h"

NAMED(void*, mallocx, size_t, int)
NAMED(int, mallctl, const char*, void*, size_t*, void*, size_t)
NAMED(int, mallctlnametomib, const char*, size_t*, size_t*)
NAMED(int, mallctlbymib, const size_t*, size_t, void*, size_t*, void*, size_t)

SITE_FUNCTION struct block by_mallocx(size_t n, int flags) { return ALLOCATED(mallocx(n, flags), n); }

struct control {
  size_t numbers[3], count;
};

static struct control control_of(unsigned arena, const char* action) {
  char name[64];
  struct control control = {.count = 3};
  snprintf(name, sizeof(name), "arena.%u.%s", arena, action);
  ledger_require(!mallctlnametomib(name, control.numbers, &control.count), "the control has a number");
  return control;
}

static void call(struct control control) {
  ledger_require(!mallctlbymib(control.numbers, control.count, NULL, NULL, NULL, 0), "the control works");
}

enum { kMany = 8, kEachBytes = 100 };

/* Where the thread's cache is empty, jemalloc itself allocates one of many blocks by mallocx, which is seen. */
static void fill_cache(void) {
  void* volatile blocks[4 * kMany];
  for (size_t i = 0; i < 4 * kMany; i++) blocks[i] = malloc(kEachBytes);
  for (size_t i = 0; i < 4 * kMany; i++) free(blocks[i]);
}

static void allocate_many(struct control control) {
  static void* blocks[kMany];
  struct {
    void** blocks;
    size_t number, bytes;
    int flags;
  } order = {blocks, kMany, kEachBytes, 0};
  size_t made = 0, bytes = sizeof(made);
  ledger_require(!mallctl("experimental.batch_alloc", &made, &bytes, &order, sizeof(order)) && made == kMany,
                 "blocks are made");
  ledger_require(!mallctlbymib(control.numbers, control.count, &made, &bytes, &order, sizeof(order)) && made == kMany,
                 "blocks are made");
}

int main(void) {
  unsigned arena = 0;
  size_t bytes = sizeof(arena);
  ledger_require(mallctl("arenas.create", &arena, &bytes, NULL, 0) == 0, "an arena is created");
  char name[64];
  snprintf(name, sizeof(name), "arena.%u.reset", arena);
  const int in_arena = (int)((arena + 1) << 20 | 1u << 8); /* MALLOCX_ARENA(arena) | MALLOCX_TCACHE_NONE */
  struct control destroy = control_of(arena, "destroy"), purge = control_of(arena, "purge"), many = {.count = 2};
  ledger_require(!mallctlnametomib("experimental.batch_alloc", many.numbers, &many.count), "the control has a number");
  fill_cache();
  ledger_begin();
  allocate_many(many);
  for (size_t i = 1; i <= 100; i++) by_mallocx(i, in_arena);
  ledger_require(mallctl(name, NULL, NULL, NULL, 0) == 0, "the arena is reset");
  call(purge);
  call(control_of(arena, "reset")); /* which is counted twice: some jemalloc may have other numbers */
  call(destroy);
  ledger_loss("unfollowed_calls", 6);
  ledger_end();
  return 0;
}
