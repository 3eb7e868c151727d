/* A target under load: threads that call every part of the allocator until told to stop. It keeps no ledger; it checks
 * its own blocks instead, and says "unharmed" at the end. Arguments: number of threads, and "idle" for threads that
 * sleep. */
#include <pthread.h>
#include <stdatomic.h>

#include "ledger.h"

enum { kMaxThreads = 64, kSlots = 64 };

static atomic_int stop;
static atomic_ulong rounds;
static pthread_barrier_t start;
static int idle;

SITE_FUNCTION char* by_malloc(size_t n) { return malloc(n); }
SITE_FUNCTION char* by_calloc(size_t n) { return calloc(1, n); }
SITE_FUNCTION char* by_realloc(char* old, size_t n) { return realloc(old, n); }
SITE_FUNCTION char* by_memalign(size_t n) {
  void* block = NULL;
  return posix_memalign(&block, 64, n) ? NULL : block;
}

static void churn(unsigned seed) {
  struct {
    char* block;
    size_t n;
  } slots[kSlots] = {{0}};
  while (!atomic_load(&stop)) {
    seed = seed * 1664525u + 1013904223u;
    unsigned at = (seed >> 10) % kSlots, kind = (seed >> 20) % 4;
    size_t n = 16 + (seed >> 8) % 2000;
    char* old = slots[at].block;
    if (old)
      ledger_require(old[0] == (char)at && old[slots[at].n - 1] == (char)slots[at].n, "blocks keep their content");
    char* made;
    if (kind == 3) {
      made = by_realloc(old, n);
    } else {
      free(old);
      made = kind == 0 ? by_malloc(n) : kind == 1 ? by_calloc(n) : by_memalign(n);
    }
    ledger_require(made != NULL, "allocations succeed");
    made[0] = (char)at;
    made[n - 1] = (char)n;
    slots[at].block = made;
    slots[at].n = n;
    atomic_fetch_add(&rounds, 1);
  }
}

static void* work(void* argument) {
  pthread_barrier_wait(&start);
  if (idle)
    pthread_barrier_wait(&start);
  else
    churn((unsigned)(size_t)argument);
  return NULL;
}

int main(int argc, char** argv) {
  size_t count = argc > 1 ? (size_t)atoi(argv[1]) : 2;
  pthread_t threads[kMaxThreads];
  ledger_require(count >= 1 && count <= kMaxThreads, "1 to 64 threads");
  idle = argc > 2;
  pthread_barrier_init(&start, NULL, (unsigned)count + 1);
  for (size_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, work, (void*)(i + 1));
  pthread_barrier_wait(&start);
  ledger_write("ready\n", 6);
  ledger_wait();
  atomic_store(&stop, 1);
  if (idle) pthread_barrier_wait(&start);
  for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
  ledger_varies("rounds");
  ledger_value("rounds", atomic_load(&rounds));
  ledger_write("unharmed\n", 9);
  return 0;
}
