/* A process that may call read, write and exit and nothing else, or is killed: tracing must not make it call more. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}

int main(void) {
  free(malloc(64 << 10)); /* the heap is large enough from now on: no brk */
  ledger_require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0, "strict seccomp can be set");
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_realloc(by_malloc(i), i * 2);
    if (i % 2) release(block);
  }
  ledger_end();
  syscall(SYS_exit, 0); /* exit_group is forbidden */
  return 1;
}
