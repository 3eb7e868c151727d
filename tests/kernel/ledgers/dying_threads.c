/* Threads that end inside malloc, half by pthread_exit, half by the bare system call. */
#include <pthread.h>
#include <sys/syscall.h>

#include "leaving_allocator.h"

enum { kThreads = 20 };

static pthread_barrier_t start;
static _Thread_local int by_system_call;

static void leave(void) {
  if (by_system_call) syscall(SYS_exit, 0);
  pthread_exit(NULL);
}

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION void never_returns(void) { ledger_require(malloc(kMagicSize) == NULL, "the thread ends in malloc"); }

static void* work(void* argument) {
  size_t number = (size_t)argument;
  by_system_call = number % 2 != 0;
  pthread_barrier_wait(&start);
  for (size_t i = 1; i <= 10; i++) {
    struct block block = by_malloc(number * 10 + i);
    if (i % 2) release(block);
  }
  never_returns();
  return NULL;
}

static void* only_exit(void* argument) {
  (void)argument;
  pthread_exit(NULL);
}

int main(void) {
  pthread_t threads[kThreads], first;
  pthread_create(&first, NULL, only_exit, NULL); /* makes libc load its unwinder before the trace */
  pthread_join(first, NULL);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (size_t i = 0; i < kThreads; i++) pthread_create(&threads[i], NULL, work, (void*)i);
  ledger_begin();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
  for (size_t i = 1; i <= 100; i++) by_malloc(i);
  ledger_loss("abandoned_calls", kThreads);
  ledger_end();
  return 0;
}
