/* Memory that the kernel itself has not mapped (memfd_secret): posix_memalign stores addresses there, and a
 * coroutine has its stack there. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "noted_stacks.h"

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { kRounds = 50, kStackBytes = 1 << 18, kAlignment = 64 };

static char* secret;
static ucontext_t coroutine, caller;

SITE_FUNCTION struct block aligned(void** result, size_t n) {
  NOTE_STACK();
  ledger_require(posix_memalign(result, kAlignment, n) == 0, "posix_memalign succeeds");
  return ALLOCATED(*result, n);
}
SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION struct block from_deep(size_t levels, size_t n) {
  struct block block = levels ? from_deep(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

static void work(void) {
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = aligned((void**)secret + i, i * 1000);
    if (i % 2) release(block);
    block = from_deep(i % 20, i);
    if (i % 3) release(block);
  }
}

int main(void) {
  int fd = (int)syscall(SYS_memfd_secret, 0);
  ledger_require(fd >= 0 && ftruncate(fd, 2 * kStackBytes) == 0, "the kernel has memfd_secret");
  secret = mmap(NULL, 2 * kStackBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ledger_require(secret != MAP_FAILED, "secret memory can be mapped");
  ledger_require(getcontext(&coroutine) == 0, "getcontext works");
  coroutine.uc_stack.ss_sp = secret + kStackBytes;
  coroutine.uc_stack.ss_size = kStackBytes;
  coroutine.uc_link = &caller;
  makecontext(&coroutine, work, 0);
  ledger_begin();
  ledger_require(swapcontext(&caller, &coroutine) == 0, "swapcontext works");
  ledger_end();
  return 0;
}
