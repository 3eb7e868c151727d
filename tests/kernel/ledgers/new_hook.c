/* tcmalloc calls a hook of the program's after each allocation, and the hook allocates. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "ledger.h"

enum { kRounds = 100 };

void* _Znwm(size_t bytes) __attribute__((weak));
typedef int (*change_hooks)(void (*hook)(const void*, size_t));

static volatile int is_inside;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_new(size_t n) { return ALLOCATED(_Znwm(n), n); }
SITE_FUNCTION struct block in_hook(size_t n) { return ALLOCATED(malloc(n), n); }

static void hook(const void* block, size_t bytes) {
  (void)block;
  if (is_inside) return;
  is_inside = 1;
  struct block own = in_hook(bytes + 16);
  if (bytes % 2) release(own);
  is_inside = 0;
}

int main(void) {
  change_hooks add = (change_hooks)dlsym(RTLD_DEFAULT, "MallocHook_AddNewHook");
  change_hooks remove_hook = (change_hooks)dlsym(RTLD_DEFAULT, "MallocHook_RemoveNewHook");
  ledger_require(add && remove_hook && _Znwm, "this is tcmalloc");
  ledger_begin();
  ledger_require(add(hook), "the hook is taken");
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = i % 2 ? by_malloc(i * 10) : by_new(i * 7);
    if (i % 3) release(block);
  }
  ledger_require(remove_hook(hook), "the hook is removed");
  ledger_end();
  return 0;
}
