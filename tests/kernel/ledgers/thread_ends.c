/* Where stacks end: in _start, in the function that clone3 starts threads in, in a thread that a thread has created,
 * and in functions that run after main or at a thread's end. */
#include <pthread.h>

#include "noted_stacks.h"

enum { kRounds = 30 };

static pthread_barrier_t start;
static pthread_key_t key;

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION void allocate(size_t from) {
  for (size_t i = from; i < from + kRounds; i++) {
    struct block block = by_malloc(i);
    if (i % 3) release(block);
  }
}

static void at_thread_end(void* from) { allocate((size_t)from); }

static void* inner(void* argument) {
  pthread_barrier_wait(&start);
  pthread_setspecific(key, (void*)20);
  allocate(30);
  return argument;
}

static void* outer(void* argument) {
  pthread_t thread;
  ledger_require(pthread_create(&thread, NULL, inner, NULL) == 0, "a thread can create another");
  pthread_barrier_wait(&start);
  allocate(40);
  pthread_join(thread, NULL);
  return argument;
}

static void after_main(void) {
  allocate(50);
  ledger_end();
}

int main(void) {
  pthread_t thread;
  pthread_key_create(&key, at_thread_end);
  pthread_barrier_init(&start, NULL, 3);
  ledger_require(pthread_create(&thread, NULL, outer, NULL) == 0, "the thread can be created");
  atexit(after_main);
  ledger_begin();
  pthread_barrier_wait(&start);
  allocate(10);
  pthread_join(thread, NULL);
  exit(0);
}
