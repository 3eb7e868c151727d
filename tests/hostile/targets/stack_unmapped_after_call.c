/* Each call of the allocator has a stack of its own, which another thread unmaps the moment that it is left: what walks
 * it, or comes back to it later, finds nothing, or other memory. */
#include <pthread.h>

#include "hostile.h"
#include "on_stack.h"

enum { kStack = 1 << 16, kRounds = 2000 };

static char* stack_of_round;
static pthread_barrier_t left;

static void script(void) {
  static size_t round;
  struct block block = by_malloc(++round);
  if (round % 2) release(block);
}

static void* unmap_them(void* unused) {
  for (int i = 0; i < kRounds; i++) {
    pthread_barrier_wait(&left);
    munmap(stack_of_round, kStack);
    pthread_barrier_wait(&left);
  }
  return unused;
}

int main(void) {
  pthread_t unmapper;
  pthread_barrier_init(&left, NULL, 2);
  ledger_require(pthread_create(&unmapper, NULL, unmap_them, NULL) == 0, "a thread can be made");
  ledger_begin();
  for (int i = 0; i < kRounds; i++) {
    stack_of_round = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    on_stack(stack_of_round + kStack, script); /* the first frame has no caller above it */
    pthread_barrier_wait(&left);
    pthread_barrier_wait(&left);
  }
  ledger_end();
  return 0;
}
