/* Forks, vforks and forks twice, with handlers at fork that allocate on both sides, while children allocate and end. */
#define _GNU_SOURCE
#include <pthread.h>

#include "hostile.h"

SITE_FUNCTION struct block before_fork(size_t n) { return ALLOCATED(malloc(n), n); }
static struct block at_fork;
static void prepare(void) { at_fork = before_fork(123); }
static void in_parent(void) { release(at_fork); }
static void in_child(void) {
  free(at_fork.address);
  for (size_t i = 0; i < 100; i++) free(malloc(i));
}

int main(void) {
  pthread_atfork(prepare, in_parent, in_child);
  ledger_begin();
  for (int i = 0; i < 150; i++) {
    allocate_a_while(3);
    pid_t child = i % 3 ? fork() : vfork();
    if (child == 0) {
      if (i % 3 == 1 && fork() == 0) _exit(malloc(7) == NULL);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  ledger_end();
  return 0;
}
