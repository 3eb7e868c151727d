/* Code of the program that runs in the middle of an allocator's call and allocates too: a hook, and one within another;
 * a signal handler, on the same stack and on others that lie below and above it; a coroutine. Both blocks are the
 * program's. LEDGER_OUTER and LEDGER_INNER: the functions of the allocator that are called. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "ledger.h"

void* _Znwm(size_t bytes);
extern void (*allocator_hook)(size_t bytes);

#ifdef LEDGER_HANDLERS_ABOVE
enum { kHandlersOnly = 1 };
#else
enum { kHandlersOnly = 0 };
#endif
enum { kRounds = 50, kLevels = 3, kStackBytes = 1 << 18 };

SITE_FUNCTION struct block outer(size_t n) { return ALLOCATED(LEDGER_OUTER(n), n); }
SITE_FUNCTION struct block inner(size_t n) { return ALLOCATED(LEDGER_INNER(n), n); }

static volatile size_t level;
static ucontext_t coroutine, interrupted;
static char* stacks; /* three of them; the thread's is the middle one */
static pthread_barrier_t start;

/* One block stays; the other is given back at once. */
static void allocate(size_t n) {
  release(inner(n));
  inner(n + 1);
}

static void plain_hook(size_t n) {
  if (level) return;
  level = 1;
  allocate(n * 2);
  level = 0;
}

static void nested_hook(size_t n) {
  if (level == kLevels) return;
  level++;
  allocate(n + level);
  level--;
}

static void handle(int number) { allocate((size_t)number); }

static void raising_hook(size_t n) {
  (void)n;
  if (level) return;
  level = 1;
  raise(SIGUSR1);
  level = 0;
}

static void run_coroutine(void) {
  for (size_t i = 1;; i++) {
    allocate(i);
    swapcontext(&coroutine, &interrupted);
  }
}

static void switching_hook(size_t n) {
  (void)n;
  if (level) return;
  level = 1;
  swapcontext(&interrupted, &coroutine);
  level = 0;
}

static void allocate_with(void (*hook)(size_t)) {
  allocator_hook = hook;
  for (size_t i = 1; i <= kRounds; i++) {
    struct block block = outer(i * 10);
    if (i % 2) release(block);
  }
  allocator_hook = NULL;
}

/* A signal handler and a coroutine on the stack that begins there. */
static void leave_stack(char* stack) {
  stack_t alternate = {.ss_sp = stack, .ss_size = kStackBytes};
  ledger_require(sigaltstack(&alternate, NULL) == 0, "the alternate stack is accepted");
  allocate_with(raising_hook);
  ledger_require(getcontext(&coroutine) == 0, "getcontext works");
  coroutine.uc_stack = alternate;
  makecontext(&coroutine, run_coroutine, 0);
  if (!kHandlersOnly) allocate_with(switching_hook);
}

static void* work(void* nothing) {
  pthread_barrier_wait(&start);
  allocate_with(plain_hook);
  allocate_with(nested_hook);
  allocate_with(raising_hook);
  leave_stack(stacks);
#ifndef LEDGER_NONE_ABOVE
  leave_stack(stacks + 2 * kStackBytes);
#endif
  return nothing;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  stacks = mmap(NULL, 3 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(stacks != MAP_FAILED, "mmap works");
  ledger_require(sigaction(SIGUSR1, &action, NULL) == 0, "sigaction works");
  pthread_attr_init(&attributes);
  ledger_require(pthread_attr_setstack(&attributes, stacks + kStackBytes, kStackBytes) == 0, "the stack is accepted");
  pthread_barrier_init(&start, NULL, 2);
  ledger_require(pthread_create(&thread, &attributes, work, NULL) == 0, "the thread can be created");
  ledger_begin();
  pthread_barrier_wait(&start);
  pthread_join(thread, NULL);
  ledger_end();
  return 0;
}
