/* Calls of odd_allocator.c, many of which fail, by two threads. */
#include <pthread.h>

#include "ledger.h"

enum { kCalls = 3000 };

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(n, 3), n * 3); }
SITE_FUNCTION struct block by_aligned_alloc(size_t n) { return ALLOCATED(aligned_alloc(n % 3 ? 16 : 32, n), n); }
SITE_FUNCTION struct block by_posix_memalign(size_t n) {
  void* address = NULL;
  if (posix_memalign(&address, 16, n) != 0) address = NULL;
  return ALLOCATED(address, n);
}

static size_t size_of(uint32_t random) {
  switch (random % 8) {
    case 0:
      return 0;
    case 1:
      return random / 8 % 70000;
    case 2:
      return (size_t)1 << random / 8 % 40;
    default:
      return random / 8 % 600;
  }
}

static void call(uint32_t seed) {
  struct block (*const calls[])(size_t) = {by_malloc, by_calloc, by_aligned_alloc, by_posix_memalign};
  for (size_t i = 0; i < kCalls; i++) {
    struct block block;
    seed = seed * 1664525 + 1013904223;
    block = calls[seed >> 12 & 3](size_of(seed >> 14));
    if (i % 3) release(block);
  }
}

static pthread_barrier_t start;

static void* work(void* nothing) {
  pthread_barrier_wait(&start);
  call(2);
  return nothing;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&thread, NULL, work, NULL);
  ledger_begin();
  pthread_barrier_wait(&start);
  call(1);
  pthread_join(thread, NULL);
  ledger_end();
  return 0;
}
