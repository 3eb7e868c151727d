/* As longjmp_out, but the stack slot of the abandoned call's return address is never written again: it lies in a local
 * array that the deeper caller does not touch. A slot that still holds the kernel's trampoline is no proof that the
 * call is still open. With the allocator in a library it is seen that its callers are no allocators; with the allocator
 * in the executable that cannot be seen, and what was hidden must be counted. */
#include <setjmp.h>

#ifdef LEDGER_LEAVING_LIBRARY
#include "ledger.h"
enum { kMagicSize = 424242 };
extern void (*leave_allocator)(void);
#else
#include "leaving_allocator.h"
#endif

static jmp_buf back;

static void leave(void) { longjmp(back, 1); }

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
/* The abandoned call's slot lies in the middle of the hole below: far from the registers saved above it, and from what
 * the allocator itself writes beneath it. */
SITE_FUNCTION void never_returns(void) {
  volatile char space[32 << 10];
  __asm__ volatile("" ::"r"(space));
  ledger_require(malloc(kMagicSize) == NULL, "malloc is left by longjmp");
}
SITE_FUNCTION struct block over_a_hole(size_t n) {
  volatile char hole[64 << 10];
  __asm__ volatile("" ::"r"(hole)); /* it exists, and is not written to */
  return by_malloc(n);
}

int main(void) {
#ifdef LEDGER_LEAVING_LIBRARY
  leave_allocator = leave;
#endif
  ledger_begin();
  if (setjmp(back) == 0) never_returns();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = over_a_hole(i * 3);
    if (i % 2) release(block);
  }
  ledger_loss("abandoned_calls", 1);
  ledger_end();
  return 0;
}
