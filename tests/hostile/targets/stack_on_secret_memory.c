/* The stack lies in memory that the kernel has taken out of its direct map (memfd_secret), the blocks that
 * posix_memalign writes its result to included. */
#include "hostile.h"
#include "on_stack.h"

enum { kStack = 1 << 18 };

static void script(void) { allocate_a_while(1000); }

int main(void) {
  int secret = (int)syscall(SYS_memfd_secret, 0);
  ledger_require(secret >= 0 && ftruncate(secret, kStack) == 0, "there is secret memory");
  char* stack = mmap(NULL, kStack, PROT_READ | PROT_WRITE, MAP_SHARED, secret, 0);
  ledger_require(stack != MAP_FAILED, "secret memory can be mapped");
  ledger_begin();
  on_stack(stack + kStack, script);
  ledger_end();
  return 0;
}
