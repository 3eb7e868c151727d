/* A hook of an allocator's allocates by way of other functions of libc, which is an allocator's file too: between the
 * two calls of the allocator is code of such files, and the hook. */
#define _GNU_SOURCE
#include <stdio.h>

#include "hostile.h"

extern void (*allocator_hook)(size_t bytes);

SITE_FUNCTION struct block by_strdup(const char* text) { return ALLOCATED(strdup(text), strlen(text) + 1); }

static volatile int is_inside;

static void hook(size_t n) {
  if (is_inside) return;
  is_inside = 1;
  char text[64] = "some text that is copied from inside an allocator, or half of it";
  text[n % 60 + 1] = 0;
  struct block copy = by_strdup(text);
  if (n % 3) release(copy);
  is_inside = 0;
}

int main(void) {
  ledger_begin();
  allocator_hook = hook;
  for (size_t i = 0; i < 500; i++) {
    struct block block = by_malloc(i % 50 + 1);
    if (i % 2) release(block);
  }
  allocator_hook = NULL;
  ledger_end();
  return 0;
}
