/* A thread that is not the first one replaces the program, a hundred times, with allocations in between; the numbers
 * are those of the last program. */
#include <pthread.h>
#include <stdio.h>

#include "hostile.h"

enum { kTimes = 100 };

static char count[16];
static void* exec_again(void* self) {
  char* const arguments[] = {self, count, NULL};
  execv("/proc/self/exe", arguments);
  ledger_require(0, "a thread can exec");
  return NULL;
}

int main(int argc, char** argv) {
  int times = argc > 1 ? atoi(argv[1]) : 0;
  if (times == 0) ledger_begin();
  if (times < kTimes) {
    pthread_t thread;
    for (size_t i = 0; i < 100; i++) by_malloc(i);
    snprintf(count, sizeof(count), "%d", times + 1);
    pthread_create(&thread, NULL, exec_again, argv[0]);
    pthread_join(thread, NULL);
  }
  allocate_a_while(100);
  ledger_end();
  return 0;
}
