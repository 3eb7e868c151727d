/* Memory whose pages a thread of the program itself provides (userfaultfd): a touch from elsewhere without
 * being ready to wait, as a probe, gets nothing. */
#ifndef HAWKTRACE_FAULTING_MEMORY_H
#define HAWKTRACE_FAULTING_MEMORY_H

#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>

#include "hostile.h"

static int faults = -1;
static void (*on_fault)(void); /* called by the provider before it provides */
static uint64_t provided;

static void* provide(void* unused) {
  static char page[4096] __attribute__((aligned(4096)));
  struct uffd_msg message;
  while (read(faults, &message, sizeof(message)) == (ssize_t)sizeof(message)) {
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    if (on_fault) on_fault();
    struct uffdio_copy copy = {.dst = message.arg.pagefault.address & ~4095ull, .src = (uintptr_t)page, .len = 4096};
    /* Counted before: the thread that touched the page may end the program as soon as it is there. */
    __atomic_fetch_add(&provided, 1, __ATOMIC_RELAXED);
    if (ioctl(faults, UFFDIO_COPY, &copy) != 0) __atomic_fetch_sub(&provided, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

/* Watches fresh private memory of that size. */
static char* faulting_memory(size_t bytes) {
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API};
  struct uffdio_register range = {.range = {.start = (uintptr_t)memory, .len = bytes},
                                  .mode = UFFDIO_REGISTER_MODE_MISSING};
  ledger_require(faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0 && ioctl(faults, UFFDIO_REGISTER, &range) == 0,
                 "the kernel has userfaultfd");
  pthread_t provider;
  ledger_require(pthread_create(&provider, NULL, provide, NULL) == 0, "a thread can provide pages");
  return memory;
}

#endif
