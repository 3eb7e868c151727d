/* 30,000 threads, each of which allocates. */
#include <pthread.h>

#include "hostile.h"

enum { kThreads = 30000 };

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void* allocate(void* unused) {
  pthread_mutex_lock(&gate);
  pthread_mutex_unlock(&gate);
  struct block block = by_malloc(10);
  if ((uintptr_t)unused % 2) release(block);
  return NULL;
}

int main(void) {
  static pthread_t threads[kThreads];
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 15);
  pthread_mutex_lock(&gate);
  for (uintptr_t i = 0; i < kThreads; i++)
    ledger_require(pthread_create(&threads[i], &attributes, allocate, (void*)i) == 0, "so many threads can be made");
  ledger_begin();
  pthread_mutex_unlock(&gate);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  ledger_end();
  return 0;
}
