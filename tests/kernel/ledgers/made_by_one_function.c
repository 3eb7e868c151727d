/* Every function of libc that has its blocks made by _int_malloc, which the points of some are in and which the others
 * run through as well: from the cache, from the top and from bins, by mmap, and where there is no memory, in one thread
 * or in several. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>

#include "ledger.h"

/* More of a size than the cache holds, and sizes that it does not hold. */
enum { kBlocks = 64, kRounds = 40, kThreads = 4, kKinds = 6 };
static const size_t kSizes[] = {0, 1, 24, 25, 40, 1032, 1033, 5000, 20000, 200000};
enum { kSizeCount = sizeof(kSizes) / sizeof(kSizes[0]) };

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(n, 1), n); }
SITE_FUNCTION struct block by_product(size_t n) { return ALLOCATED(calloc(3, n), 3 * n); }
SITE_FUNCTION struct block by_memalign(size_t n) { return ALLOCATED(memalign(64, n), n); }
SITE_FUNCTION struct block by_posix_memalign(size_t n) {
  void* block = NULL;
  int error = posix_memalign(&block, 256, n);
  return ALLOCATED(error ? NULL : block, n);
}
SITE_FUNCTION struct block by_realloc_of_null(size_t n) { return ALLOCATED(realloc(NULL, n), n); }
SITE_FUNCTION struct block resized(struct block old, size_t n) { return REALLOCATED(old, realloc(old.address, n), n); }

static struct block make(int kind, size_t n) {
  switch (kind) {
    case 0:
      return by_malloc(n);
    case 1:
      return by_calloc(n);
    case 2:
      return by_product(n);
    case 3:
      return by_memalign(n);
    case 4:
      return by_posix_memalign(n);
    default:
      return by_realloc_of_null(n);
  }
}

static void run(void) {
  struct block blocks[kBlocks];
  for (int round = 0; round < kRounds; round++) {
    const size_t n = kSizes[round % kSizeCount];
    for (int i = 0; i < kBlocks; i++) blocks[i] = make((round + i) % kKinds, n);
    for (int i = 0; i < kBlocks; i += 3) blocks[i] = resized(blocks[i], n * 2 + 100);
    /* In an order that leaves holes, so that chunks come from bins. */
    for (int i = 0; i < kBlocks; i += 2) release(blocks[i]);
    for (int i = 1; i < kBlocks; i += 2) release(blocks[i]);
  }
}

SITE_FUNCTION void fail(void) {
  volatile size_t endless = (size_t)-1;
  const struct rlimit none = {0, RLIM_INFINITY};
  struct rlimit before;
  getrlimit(RLIMIT_AS, &before);
  setrlimit(RLIMIT_AS, &none);
  ledger_require(!malloc((size_t)1 << 30) && !calloc(1 << 15, 1 << 15), "there is no memory");
  ledger_require(!malloc(endless) && !calloc(endless, 2), "nor so much");
  setrlimit(RLIMIT_AS, &before);
}

#ifdef LEDGER_THREADS
static pthread_barrier_t start;

static void* run_thread(void* unused) {
  pthread_barrier_wait(&start);
  run();
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (int i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], NULL, run_thread, NULL) == 0, "a thread");
  ledger_begin();
  pthread_barrier_wait(&start);
  run();
  for (int i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  fail();
  ledger_end();
  return 0;
}
#else
int main(void) {
  ledger_begin();
  run();
  fail();
  ledger_end();
  return 0;
}
#endif
