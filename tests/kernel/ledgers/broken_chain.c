/* Frame pointers that lead out of the stack: to a page that is not mapped, over the edge of the last page that is, and
 * to one that may not be read. The walk ends there; the block and the frames before it count. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "frame_pair.h"

enum { kPage = 4096, kStackPages = 64, kRounds = 100 };

static pthread_barrier_t start;
static char* stack;
static struct block last;

/* The walk finds no further frame than call_on_pair behind each of these. */
SITE_FUNCTION void chain_to_nowhere(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void chain_over_the_end(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void chain_to_forbidden(size_t n) { last = ALLOCATED(malloc(n), n); }

static void through(char* pair, void (*function)(size_t), size_t round) {
  call_on_pair(1 + round, (volatile struct frame_pair*)pair, function);
  if (round % 2) release(last);
}

static void* work(void* argument) {
  char* end = stack + kStackPages * kPage;
  pthread_barrier_wait(&start);
  for (size_t round = 0; round < kRounds; round++) {
    through(end + 64, chain_to_nowhere, round);
    through(end - 8, chain_over_the_end, round);
    through(end + kPage + 64, chain_to_forbidden, round);
  }
  return argument;
}

/* The stack, then a page that is not mapped, then one that may not be read although it is there. */
static void make_stack(void) {
  stack = mmap(NULL, (kStackPages + 2) * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(stack != MAP_FAILED, "mmap works");
  char* end = stack + kStackPages * kPage;
  memset(end - kPage, 0, kPage);
  memset(end + kPage, 0x55, kPage);
  ledger_require(munmap(end, kPage) == 0 && mprotect(end + kPage, kPage, PROT_NONE) == 0, "the pages can be closed");
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  make_stack();
  pthread_attr_init(&attributes);
  /* The last page stays free of the thread itself. */
  ledger_require(pthread_attr_setstack(&attributes, stack, (kStackPages - 1) * kPage) == 0, "the stack is accepted");
  pthread_barrier_init(&start, NULL, 2);
  ledger_require(pthread_create(&thread, &attributes, work, NULL) == 0, "the thread can be created");
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_join(thread, NULL);
  ledger_value("stacks", 3);
  ledger_value("incomplete_stacks", 3);
  ledger_end();
  return 0;
}
