/* More threads than the tracer has slots for (1024), that live before the trace begins and allocate in it, all at once:
 * thousand_threads [COUNT] */
#include <pthread.h>
#include <stdlib.h>

#include "ledger.h"

enum { kUsualThreads = 1200, kBlocks = 20, kStackBytes = 65536 };

static pthread_barrier_t start, done;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

static void* work(void* argument) {
  size_t number = (size_t)argument;
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kBlocks; i++) {
    struct block block = by_malloc(1 + number % 100 + i);
    if (i % 2) release(block);
  }
  pthread_barrier_wait(&done);
  for (;;) pause();
  return NULL;
}

int main(int argc, char** argv) {
  const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : kUsualThreads;
  pthread_attr_t attributes;
  pthread_barrier_init(&start, NULL, threads + 1);
  pthread_barrier_init(&done, NULL, threads + 1);
  pthread_attr_init(&attributes);
  ledger_require(pthread_attr_setstacksize(&attributes, kStackBytes) == 0, "the stacks are large enough");
  for (size_t i = 0; i < threads; i++) {
    pthread_t thread;
    ledger_require(pthread_create(&thread, &attributes, work, (void*)i) == 0, "the threads can be created");
  }
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_barrier_wait(&done);
  ledger_end();
  return 0;
}
