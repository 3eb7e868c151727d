/* A million live blocks of two threads, freed by a third in another order while a fourth allocates; then half as many
 * once more. The live table grows, shrinks and grows again under all of them. */
#include <pthread.h>

#include "ledger.h"

enum { kPerThread = 500000, kStride = 7919, kKeepEvery = 1000, kThreads = 4 };

static pthread_barrier_t start, filled, freed;
static struct block shelf[2][kPerThread];
static volatile int freeing = 1;

SITE_FUNCTION struct block left_block(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block right_block(size_t n) { return ALLOCATED(calloc(1, n), n); }
SITE_FUNCTION struct block meanwhile(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block once_more(size_t n) { return ALLOCATED(malloc(n), n); }

static void fill_left(void) {
  for (size_t i = 0; i < kPerThread; i++) shelf[0][i] = left_block(1 + i % 40);
}

static void fill_right(void) {
  for (size_t i = 0; i < kPerThread; i++) shelf[1][i] = right_block(8 + i % 90);
}

/* kStride has no common divisor with kPerThread: every block has its turn. */
static void free_nearly_all(void) {
  for (size_t i = 0; i < kPerThread; i++) {
    size_t at = i * kStride % kPerThread;
    for (int side = 0; side < 2; side++)
      if (at % kKeepEvery) release(shelf[side][at]);
  }
  freeing = 0;
}

static void allocate_meanwhile(void) {
  for (size_t i = 0; freeing || i < 1000; i++) release(meanwhile(1 + i % 500));
}

/* All of them live before the trace begins, for to create a thread allocates. */
static void* work(void* argument) {
  size_t number = (size_t)argument;
  pthread_barrier_wait(&start);
  if (number == 0) fill_left();
  if (number == 1) fill_right();
  pthread_barrier_wait(&filled);
  if (number == 2) free_nearly_all();
  if (number == 3) allocate_meanwhile();
  pthread_barrier_wait(&freed);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&start, NULL, kThreads + 1);
  pthread_barrier_init(&filled, NULL, kThreads);
  pthread_barrier_init(&freed, NULL, kThreads);
  for (size_t i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], NULL, work, (void*)i) == 0, "threads can be created");
  ledger_begin();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (size_t i = 0; i < kPerThread; i++)
    if (i % kKeepEvery) shelf[0][i] = once_more(1 + i % 60);
  for (size_t i = 0; i < kPerThread; i += 3) release(shelf[0][i]);
  ledger_varies("meanwhile");
  ledger_end();
  return 0;
}
