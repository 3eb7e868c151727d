/* A thread whose stack lies in huge pages, as the page tables of the processor have them. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

#include "ledger.h"

enum { kHugePage = 2 << 20, kPages = 2, kLevels = 60, kRounds = 100 };

static pthread_barrier_t start;

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block descend(size_t levels, size_t n) {
  volatile char room[40000]; /* 60 of them take more than one huge page */
  __asm__ volatile("" ::"r"(room));
  struct block block = levels ? descend(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

static void* work(void* argument) {
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kRounds; i++) {
    struct block block = descend(kLevels, 1 + i);
    if (i % 2) release(block);
  }
  return argument;
}

/* The huge pages of this process, in KiB, as /proc/self/smaps has them. */
static uint64_t huge_kib(void) {
  static char text[1 << 20];
  static const char kKey[] = "AnonHugePages:";
  size_t size = 0;
  uint64_t sum = 0;
  ssize_t count;
  int file = open("/proc/self/smaps", O_RDONLY);
  while (size < sizeof(text) - 1 && (count = read(file, text + size, sizeof(text) - 1 - size)) > 0)
    size += (size_t)count;
  close(file);
  for (const char* at = text; (at = strstr(at, kKey)) != NULL; at++) {
    const char* digit = at + sizeof(kKey) - 1;
    uint64_t number = 0;
    while (*digit == ' ') digit++;
    for (; *digit >= '0' && *digit <= '9'; digit++) number = number * 10 + (uint64_t)(*digit - '0');
    sum += number;
  }
  return sum;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  size_t bytes = (kPages + 1) * (size_t)kHugePage;
  char* space = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(space != MAP_FAILED, "mmap works");
  char* stack = (char*)(((uintptr_t)space + kHugePage - 1) & ~(uintptr_t)(kHugePage - 1));
  ledger_require(madvise(stack, kPages * (size_t)kHugePage, MADV_HUGEPAGE) == 0, "the kernel has huge pages");
  memset(stack, 0, kPages * (size_t)kHugePage);
  pthread_attr_init(&attributes);
  ledger_require(pthread_attr_setstack(&attributes, stack, kPages * (size_t)kHugePage) == 0, "the stack is accepted");
  pthread_barrier_init(&start, NULL, 2);
  ledger_require(pthread_create(&thread, &attributes, work, NULL) == 0, "the thread can be created");
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_join(thread, NULL);
  ledger_value("huge_kib", huge_kib());
  ledger_value("stacks", 1);
  ledger_end();
  return 0;
}
