/* Hooks that leave the allocator's call that they are in, by longjmp: alone, and together with the call of the hook's
 * own that is open too. LEDGER_OUTER, LEDGER_INNER: see calls_in_hooks.c. */
#include <setjmp.h>

#include "ledger.h"

void* _Znwm(size_t bytes);
extern void (*allocator_hook)(size_t bytes);

enum { kRounds = 60, kLevels = 3 };

SITE_FUNCTION struct block outer(size_t n) { return ALLOCATED(LEDGER_OUTER(n), n); }
SITE_FUNCTION struct block inner(size_t n) { return ALLOCATED(LEDGER_INNER(n), n); }
SITE_FUNCTION struct block plain(size_t n) { return ALLOCATED(malloc(n), n); }

static jmp_buf back;
static volatile size_t level, last_level;

static void hook(size_t n) {
  if (level == last_level) longjmp(back, 1);
  level++;
  release(inner(n + level));
  level--;
}

/* Writes every word of the stack that the calls have used. */
SITE_FUNCTION void use_stack_again(void) {
  volatile size_t frame[2048];
  for (size_t i = 0; i < 2048; i++) frame[i] = i;
  ledger_require(frame[2047] == 2047, "memory keeps what is written");
}

int main(void) {
  volatile size_t left = 0;
  ledger_begin();
  for (volatile size_t i = 1; i <= kRounds; i++) {
    level = 0;
    last_level = i % kLevels;
    allocator_hook = hook;
    if (setjmp(back) == 0) outer(i);
    allocator_hook = NULL;
    left += LEDGER_IS_LOSS(last_level);
    use_stack_again();
    struct block block = plain(i * 10);
    if (i % 2) release(block);
  }
  ledger_loss("abandoned_calls", left);
  ledger_end();
  return 0;
}
