/* Four threads free each block at the same moment. The allocator does not mind; one free counts. */
#include <pthread.h>

#include "own_allocator.h"

enum { kThreads = 4, kRounds = 3000 };

static pthread_barrier_t together;
static void* shared;

static void* free_them(void* unused) {
  for (int i = 0; i < kRounds; i++) {
    pthread_barrier_wait(&together);
    free(shared);
    pthread_barrier_wait(&together);
  }
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  pthread_barrier_init(&together, NULL, kThreads + 1);
  for (int i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], NULL, free_them, NULL) == 0, "a thread can be made");
  ledger_begin();
  for (size_t i = 0; i < kRounds; i++) {
    struct block block = by_malloc(i % 100 + 1);
    shared = block.address;
    pthread_barrier_wait(&together);
    pthread_barrier_wait(&together);
    ledger_freed(block);
  }
  ledger_end();
  return 0;
}
