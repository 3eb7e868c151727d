/* The allocator, which is the executable's own, runs a coroutine in the middle of a call, and that allocates: on a
 * stack that has nothing to do with the one of the open call. */
#define _GNU_SOURCE
#include <ucontext.h>

#include "own_allocator.h"

static ucontext_t coroutine, caller;

SITE_FUNCTION struct block in_coroutine(size_t n) { return ALLOCATED(malloc(n), n); }

static void run(void) {
  for (size_t i = 1;; i++) {
    struct block block = in_coroutine(i);
    if (i % 3) release(block);
    swapcontext(&coroutine, &caller);
  }
}
static void resume(size_t n) {
  static volatile int is_running;
  (void)n;
  if (is_running) return;
  is_running = 1;
  swapcontext(&caller, &coroutine);
  is_running = 0;
}

int main(void) {
  static char stack[1 << 16] __attribute__((aligned(16))); /* below the thread's own */
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack;
  coroutine.uc_stack.ss_size = sizeof(stack);
  makecontext(&coroutine, run, 0);
  ledger_begin();
  in_malloc = resume;
  for (size_t i = 1; i <= 300; i++) {
    struct block block = by_malloc(i);
    if (i % 2) release(block);
  }
  in_malloc = NULL;
  ledger_end();
  return 0;
}
