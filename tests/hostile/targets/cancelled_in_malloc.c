/* Threads are cancelled asynchronously while they are inside the allocator. */
#define _GNU_SOURCE
#include <pthread.h>

#include "own_allocator.h"

enum { kThreads = 60 };

static void spend_time(size_t n) {
  for (volatile size_t i = 0; i < n; i++) continue;
}
static volatile uint64_t rounds;

static void* allocate_for_ever(void* unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  for (;;) {
    release(by_malloc(100));
    rounds++;
  }
  return unused;
}

int main(void) {
  ledger_begin();
  in_malloc = spend_time;
  for (size_t i = 0; i < kThreads; i++) {
    pthread_t thread;
    uint64_t before = rounds;
    ledger_require(pthread_create(&thread, NULL, allocate_for_ever, NULL) == 0, "a thread can be made");
    while (rounds < before + 20) continue;
    pthread_cancel(thread);
    pthread_join(thread, NULL);
  }
  in_malloc = NULL;
  ledger_value("slack", 3 * kThreads); /* a call and its note each, and what the threads library allocates */
  ledger_end();
  return 0;
}
