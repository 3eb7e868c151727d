/* The main thread is gone, a zombie, before the trace begins; others go on. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

/* Returns once the process's first thread has ended. */
static void wait_until_zombie(void) {
  char path[64], state[512];
  snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
  do {
    FILE* file = fopen(path, "r");
    ledger_require(file && fgets(state, sizeof(state), file) != NULL, "/proc/self/task can be read");
    fclose(file);
  } while (strstr(state, ") Z ") == NULL);
}

static void* work(void* argument) {
  (void)argument;
  wait_until_zombie();
  ledger_begin();
  for (size_t i = 1; i <= 1000; i++) {
    struct block block = by_malloc(i * 5);
    if (i % 2) release(block);
  }
  ledger_end();
  _exit(0);
}

int main(void) {
  pthread_t worker;
  pthread_create(&worker, NULL, work, NULL);
  pthread_exit(NULL);
}
