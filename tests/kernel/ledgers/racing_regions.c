/* Threads that map and unmap at the same time, at addresses that each of them gets from the others. */
#include <pthread.h>

#include "regions.h"

enum { kThreads = 8, kRounds = 400, kKept = 16 };

static uint64_t mapped_pages, unmapped_pages;

SITE_FUNCTION char* in_thread(size_t pages) {
  char* at = map_at(NULL, pages, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  __atomic_fetch_add(&mapped_pages, pages, __ATOMIC_RELAXED);
  return at;
}

static void unmap_some(char* at, size_t pages) {
  unmap(at, pages);
  __atomic_fetch_add(&unmapped_pages, pages, __ATOMIC_RELAXED);
}

static void* work(void* argument) {
  uint64_t random = (uintptr_t)argument * 2654435761u + 1;
  struct {
    char* at;
    size_t pages;
  } kept[kKept] = {{0}};
  for (size_t i = 0; i < kRounds; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    size_t slot = random >> 33 & (kKept - 1), pages = 2 + (random >> 40 & 15);
    if (kept[slot].at) {
      size_t first = kept[slot].pages / 2;
      unmap_some(kept[slot].at + first * kPage, kept[slot].pages - first);
      unmap_some(kept[slot].at, first);
    }
    kept[slot].at = in_thread(pages);
    kept[slot].pages = pages;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  ledger_begin();
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(!pthread_create(&threads[i], NULL, work, (void*)(i + 1)), "threads can be made");
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  region_line("in_thread/anonymous/program", mapped_pages, unmapped_pages);
  ledger_end();
  return 0;
}
