/* Calls of functions that another tracer has return probes on (the test does), so that where they return to is not on
 * the stack, while other threads map and unmap memory all the time: what lies at an address can then not always be
 * found out. */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "ledger.h"

enum { kRounds = 4000, kMappers = 2, kPage = 4096 };

static atomic_int is_done;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(n, 1), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static void* map_and_unmap(void* unused) {
  while (!atomic_load(&is_done)) {
    char* page = mmap(NULL, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ledger_require(page != MAP_FAILED && munmap(page, kPage) == 0, "a page");
  }
  return unused;
}

int main(void) {
  pthread_t mappers[kMappers];
  for (int i = 0; i < kMappers; i++)
    ledger_require(pthread_create(&mappers[i], NULL, map_and_unmap, NULL) == 0, "a thread");
  ledger_begin();
  for (size_t i = 1; i <= kRounds; i++) {
    struct block first = by_malloc(i), second = by_calloc(i);
    release(resized(first, i + 3000));
    if (i % 8) release(second);
  }
  atomic_store(&is_done, 1);
  for (int i = 0; i < kMappers; i++) pthread_join(mappers[i], NULL);
  ledger_end();
  return 0;
}
