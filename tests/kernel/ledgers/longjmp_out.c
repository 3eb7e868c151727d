/* longjmp out of malloc, again and again; the calls after it are made, by turns, from a shallower and from a deeper
 * stack. The abandoned calls are counted, everything else is right. */
#include <setjmp.h>

#include "leaving_allocator.h"

enum { kRounds = 50 };

static jmp_buf back;

static void leave(void) { longjmp(back, 1); }

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION void never_returns(void) { ledger_require(malloc(kMagicSize) == NULL, "malloc is left by longjmp"); }

SITE_FUNCTION struct block by_malloc_from(size_t levels, size_t n) {
  struct block block = levels ? by_malloc_from(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}
SITE_FUNCTION void never_returns_from(size_t levels) {
  if (levels)
    never_returns_from(levels - 1);
  else
    never_returns();
  __asm__ volatile("" ::: "memory");
}
/* Writes every word of the stack that the abandoned call has used. */
SITE_FUNCTION void use_stack_again(void) {
  volatile size_t frame[1024];
  for (size_t i = 0; i < 1024; i++) frame[i] = i;
  ledger_require(frame[1023] == 1023, "memory keeps what is written");
}

int main(void) {
  ledger_begin();
  for (volatile size_t i = 1; i <= kRounds; i++) {
    if (setjmp(back) == 0) never_returns_from(i % 2 ? 20 : 0);
    use_stack_again();
    for (size_t j = 1; j <= 10; j++) {
      struct block block = by_malloc_from(i % 2 ? 0 : 20, i * j);
      if (j % 2) release(block);
    }
  }
  ledger_loss("abandoned_calls", kRounds);
  ledger_end();
  return 0;
}
