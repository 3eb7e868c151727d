/* Signal handlers allocate while a call of the allocator is open, three deep, and on stacks of their own. The allocator
 * allows that. */
#define _GNU_SOURCE
#include "own_allocator.h"

SITE_FUNCTION struct block in_handler(size_t n) { return ALLOCATED(malloc(n), n); }

static volatile int depth;
static void handle(int number) {
  (void)number;
  depth++;
  struct block block = in_handler(100);
  if (depth % 2) release(block);
  depth--;
}
static void interrupt(size_t n) {
  if (n % 7 == 0 || (depth > 0 && depth < 3)) raise(SIGUSR1);
}

int main(void) {
  static char handler_stack[1 << 16];
  stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};
  sigaltstack(&stack, NULL);
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
  sigaction(SIGUSR1, &action, NULL);
  ledger_begin();
  in_malloc = interrupt;
  for (size_t i = 0; i < 500; i++) {
    struct block block = by_malloc(i % 50 + 1);
    if (i % 2) release(block);
  }
  in_malloc = NULL;
  ledger_end();
  return 0;
}
