/* 40,000 threads one after the other, some at a time, more than there are numbers for: numbers are used again, and each
 * thread leaves a destructor behind that allocates when it ends. */
#include <pthread.h>

#include "counting_itself.h"

enum { kThreads = 40000, kAtATime = 8 };

static pthread_key_t key;

static void at_end(void* block) {
  free(block);
  free(malloc(5));
}
static void* live(void* number) {
  pthread_setspecific(key, malloc((uintptr_t)number % 100 + 1));
  if ((uintptr_t)number % 5 == 0) syscall(SYS_getpid);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 1 << 15);
  pthread_key_create(&key, at_end);
  pthread_t threads[kAtATime];
  ledger_write("ready\n", 6);
  ledger_wait();
  own_begin();
  for (uintptr_t i = 0; i < kThreads; i += kAtATime) {
    for (uintptr_t j = 0; j < kAtATime; j++)
      ledger_require(pthread_create(&threads[j], &attributes, live, (void*)(i + j)) == 0, "a thread can be made");
    for (int j = 0; j < kAtATime; j++) pthread_join(threads[j], NULL);
  }
  own_tell();
  ledger_end();
  return 0;
}
