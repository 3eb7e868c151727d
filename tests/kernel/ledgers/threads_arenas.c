/* 64 threads, each with an arena of its own, that free each other's blocks. */
#include <malloc.h>
#include <pthread.h>

#include "ledger.h"

enum { kThreads = 64, kRounds = 300 };

static pthread_barrier_t start, handed;
static struct block shelf[kThreads][kRounds];

SITE_FUNCTION struct block by_thread(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_thread_zeroed(size_t n) { return ALLOCATED(calloc(1, n), n); }

static void* work(void* argument) {
  size_t number = (size_t)argument;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds; i++) {
    shelf[number][i] = by_thread(1 + (number * 31 + i * 17) % 3000);
    release(by_thread_zeroed(1 + (number + i) % 500));
  }
  pthread_barrier_wait(&handed);
  size_t neighbour = (number + 1) % kThreads;
  for (size_t i = 0; i < kRounds; i++)
    if ((i + number) % 3) release(shelf[neighbour][i]);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  mallopt(M_ARENA_MAX, kThreads + 1);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  pthread_barrier_init(&handed, NULL, kThreads);
  for (size_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  ledger_begin();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_end();
  return 0;
}
