/* A second libc in a namespace of the dynamic linker's own (dlmopen): two allocators from one file, and blocks of each.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/lib-names.h>

#include "hostile.h"

static void* (*other_malloc)(size_t);
static void (*other_free)(void*);
SITE_FUNCTION struct block by_other_malloc(size_t n) { return ALLOCATED(other_malloc(n), n); }

int main(void) {
  void* other = dlmopen(LM_ID_NEWLM, LIBC_SO, RTLD_NOW);
  ledger_require(other != NULL, "a second libc can be loaded");
  other_malloc = (void* (*)(size_t))dlsym(other, "malloc");
  other_free = (void (*)(void*))dlsym(other, "free");
  ledger_require(other_malloc != malloc, "it is another one");
  ledger_begin();
  for (size_t i = 1; i <= 500; i++) {
    allocate_a_while(1);
    struct block block = by_other_malloc(i);
    if (i % 2) {
      other_free(block.address);
      ledger_freed(block);
    }
  }
  ledger_end();
  return 0;
}
