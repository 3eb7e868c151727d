/* Calls the allocator on a stack whose pages come by userfaultfd, one by one as they are touched, and are taken away
 * again; the thread that provides them calls the allocator itself. */
#include "faulting_memory.h"
#include "on_stack.h"

enum { kStack = 1 << 18, kRounds = 50 };

SITE_FUNCTION struct block by_provider(size_t n) { return ALLOCATED(malloc(n), n); }
static void allocate_in_provider(void) { release(by_provider(77)); }
static void script(void) { allocate_a_while(20); }

int main(void) {
  char* stack = faulting_memory(kStack);
  on_fault = allocate_in_provider;
  ledger_begin();
  for (int i = 0; i < kRounds; i++) {
    on_stack(stack + kStack - 4096 * (i % 8), script);
    madvise(stack, kStack, MADV_DONTNEED);
  }
  ledger_end();
  return provided >= kRounds ? 0 : 1;
}
