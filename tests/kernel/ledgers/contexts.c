/* Stacks of ucontexts: outermost is glibc's __start_context. They are left, and entered again, in the middle of their
 * calls. */
#include <ucontext.h>

#include "noted_stacks.h"

enum { kContexts = 3, kRounds = 30, kStackBytes = 256 << 10 };

static ucontext_t of_main, contexts[kContexts];
static char stacks[kContexts][kStackBytes];
static char is_finished[kContexts];

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION struct block descend(size_t levels, size_t n, int number) {
  struct block block;
  if (levels) {
    block = descend(levels - 1, n, number);
  } else {
    swapcontext(&contexts[number], &of_main);
    block = by_malloc(n);
  }
  __asm__ volatile("" ::: "memory");
  return block;
}

static void in_context(int number) {
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = descend(i % 5, i, number);
    if (i % 3) release(block);
  }
  is_finished[number] = 1;
}

int main(void) {
  for (int i = 0; i < kContexts; i++) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = kStackBytes;
    contexts[i].uc_link = &of_main;
    makecontext(&contexts[i], (void (*)(void))in_context, 1, i);
  }
  ledger_begin();
  for (size_t i = 0; i <= kRounds; i++)
    for (int number = 0; number < kContexts; number++) {
      if (!is_finished[number]) swapcontext(&of_main, &contexts[number]);
      release(by_malloc(i + 1));
    }
  ledger_require(is_finished[0] && is_finished[kContexts - 1], "the contexts come to their ends");
  ledger_end();
  return 0;
}
