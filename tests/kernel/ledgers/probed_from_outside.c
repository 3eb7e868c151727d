/* The return addresses of outer functions are not where the compiler put them while another tracer has return probes on
 * them (the test does). The stacks are noted before. */
#include <pthread.h>

#include "noted_stacks.h"

enum { kLevels = 12, kRounds = 50 };

static pthread_barrier_t start;
static int is_noting = 1;
static size_t replaced;

SITE_FUNCTION struct block by_malloc(size_t n) {
  if (is_noting) NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

/* The test has a return probe on this... */
SITE_FUNCTION struct block probed_descend(size_t levels, size_t n) {
  static void* return_addresses[kLevels + 1];
  if (is_noting) return_addresses[levels] = __builtin_return_address(0);
  if (return_addresses[levels] != __builtin_return_address(0)) replaced++;
  struct block block = levels ? probed_descend(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

/* ... and on this. */
SITE_FUNCTION void probed_outer(void) {
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = probed_descend(kLevels, i);
    if (i % 3) release(block);
  }
}

static void allocate(void) {
  probed_outer();
  __asm__ volatile("" ::: "memory");
}

/* Twice from the same place (volatile: no two copies of the loop), the second time during the trace. */
static void* work(void* argument) {
  for (volatile int i = 0; i < 2; i++) {
    allocate();
    pthread_barrier_wait(&start);
    pthread_barrier_wait(&start);
  }
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_barrier_init(&start, NULL, 2);
  ledger_require(pthread_create(&thread, NULL, work, NULL) == 0, "the thread can be created");
  for (volatile int i = 0; i < 2; i++) {
    allocate();
    pthread_barrier_wait(&start);
    if (i == 0) {
      ledger_begin();
      forget_ledger();
      is_noting = 0;
    }
    pthread_barrier_wait(&start);
  }
  pthread_join(thread, NULL);
  ledger_require_of_traced(replaced >= kLevels, "return addresses are replaced");
  ledger_value("stacks", noted_stack_count);
  ledger_end();
  return 0;
}
