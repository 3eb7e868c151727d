/* Calls of libc that are left, or interrupted, where what was asked for has been seen already, and the result has not:
 * the top of the heap is not there, so that malloc and its like stop at the size of it. The handler of that signal
 *
 *     jumps     jumps out of the call
 *     returns   has a coroutine allocate, makes the top accessible, and lets the call go on
 *     switches  goes back to the context that had gone over to this one, and never comes here again; as many contexts
 *               as the second argument says (5 at most) are left in a call each, of different functions
 *     ends      ends the thread
 *
 * and the calls that come after it are made from the same place and from others, in the same way and in others. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "ledger.h"

enum { kRounds = 20, kPageBytes = 4096, kLarge = 20000, kSmall = 40, kStackBytes = 1 << 16, kMostContexts = 5 };
enum { kMalloc, kCalloc, kAligned, kPosix, kRealloc, kKinds };

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(1, n), n); }
SITE_FUNCTION struct block aligned(size_t n) { return ALLOCATED(memalign(64, n), n); }
SITE_FUNCTION struct block by_posix(size_t n) {
  void* block = NULL;
  int error = posix_memalign(&block, 64, n);
  return ALLOCATED(error ? NULL : block, n);
}
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}
SITE_FUNCTION struct block in_handler(size_t n) { return ALLOCATED(malloc(n), n); }

static char* page_of(char* address) { return (char*)((uintptr_t)address & ~(uintptr_t)(kPageBytes - 1)); }

/* The thread's last block from the top of its heap: the top begins behind it. */
static _Thread_local struct block last;
static char* top(void) { return (char*)last.address - 16 + (((size_t*)last.address)[-1] & ~(size_t)7); }

static _Thread_local char* guarded;

static void guard_top(void) {
  guarded = page_of(top());
  ledger_require(mprotect(guarded, kPageBytes, PROT_NONE) == 0, "mprotect works");
}

static void give_back_top(void) {
  ledger_require(guarded != NULL, "only the top is not there");
  mprotect(guarded, kPageBytes, PROT_READ | PROT_WRITE);
  guarded = NULL;
}

static struct block make(int kind, size_t n) {
  switch (kind) {
    case kMalloc:
      return by_malloc(n);
    case kCalloc:
      return by_calloc(n);
    case kAligned:
      return aligned(n);
    case kPosix:
      return by_posix(n);
    default:
      return by_realloc(by_malloc(n / 2), n);
  }
}

/* Larger than any block before, so that none that has been freed has room. */
static void make_at_top(int kind) {
  static _Thread_local size_t large = kLarge;
  large += kPageBytes;
  last = kind == kRealloc ? by_realloc(last, large) : make(kind, large);
}

static _Thread_local enum { kJumps, kReturns, kSwitches, kEnds } how;
static _Thread_local sigjmp_buf back;
static ucontext_t of_main, of_handler, contexts[kMostContexts];
static char stacks[kMostContexts][kStackBytes];

/* As large as what is in the thread's cache. */
static void allocate_twice(int number) {
  for (;;) {
    release(in_handler(kSmall));
    in_handler(kSmall);
    swapcontext(&contexts[number], &of_handler);
  }
}

static void handle(int number) {
  (void)number;
  give_back_top();
  switch (how) {
    case kJumps:
      siglongjmp(back, 1);
    case kReturns:
      swapcontext(&of_handler, &contexts[0]);
      return;
    case kSwitches:
      swapcontext(&of_handler, &of_main);
      return;
    case kEnds:
      syscall(SYS_exit, 0);
  }
}

static void begin_context(int number, void (*function)(int)) {
  getcontext(&contexts[number]);
  contexts[number].uc_stack.ss_sp = stacks[number];
  contexts[number].uc_stack.ss_size = kStackBytes;
  makecontext(&contexts[number], (void (*)(void))function, 1, number);
}

/* Writes every word of the stack that the calls have used. */
SITE_FUNCTION void use_stack_again(void) {
  volatile size_t frame[1024];
  for (size_t i = 0; i < 1024; i++) frame[i] = i;
  ledger_require(frame[1023] == 1023, "memory keeps what is written");
}

SITE_FUNCTION void leave(int kind) {
  guard_top();
  if (sigsetjmp(back, 1) == 0) {
    make_at_top(kind);
    ledger_require(0, "the call does not return");
  }
}

SITE_FUNCTION struct block make_from(size_t levels, int kind, size_t n) {
  struct block block = levels ? make_from(levels - 1, kind, n) : make(kind, n);
  __asm__ volatile("" ::: "memory");
  return block;
}

static void make_others(size_t round) {
  for (int kind = 0; kind < kKinds; kind++) {
    release(make_from(0, kind, round + 1));
    release(make_from(round % 7, kind, 100 * round + 30));
  }
}

static void jump_out(size_t round, int kind) {
  leave(kind);
  if (kind == kRealloc && round % 2) {
    release(last); /* which nobody but the program could know to be there still */
    make_at_top(kMalloc);
  }
  if (round % 3) use_stack_again();
  make_others(round);
  make_at_top(kind);
}

static void go_on(size_t round, int kind) {
  struct block cached[] = {by_malloc(kSmall), by_malloc(kSmall)};
  release(cached[0]);
  release(cached[1]);
  make_at_top(kMalloc);
  guard_top();
  make_at_top(kind);
  ledger_require(guarded == NULL, "the call was interrupted");
  make_others(round);
}

static void leave_at_top(int kind) {
  guard_top();
  make_at_top(kind);
  ledger_require(0, "the call does not return");
}

static void switch_away(int count) {
  for (int i = 0; i < count; i++) {
    begin_context(i, leave_at_top);
    swapcontext(&of_main, &contexts[i]);
    make_others((size_t)i);
    make_at_top(kMalloc);
  }
  ledger_value("left", (uint64_t)count);
  ledger_value("left_with_a_block", count > kRealloc);
}

static pthread_barrier_t start;

static void* ending(void* argument) {
  int kind = (int)(size_t)argument;
  how = kEnds;
  pthread_barrier_wait(&start);
  make_others((size_t)kind);
  last = by_malloc(kLarge);
  guard_top();
  make_at_top(kind);
  ledger_require(0, "the call does not return");
  return NULL;
}

static void end_threads(void) {
  pthread_t threads[kKinds];
  ledger_require(pthread_barrier_init(&start, NULL, kKinds + 1) == 0, "a barrier can be made");
  for (size_t i = 0; i < kKinds; i++) pthread_create(&threads[i], NULL, ending, (void*)i);
  ledger_begin();
  pthread_barrier_wait(&start);
  for (size_t i = 0; i < kKinds; i++) pthread_join(threads[i], NULL);
  ledger_value("left", kKinds);
  ledger_value("left_with_a_block", 1);
}

int main(int count, char** arguments) {
  const char* word = count > 1 ? arguments[1] : "";
  struct sigaction action = {.sa_handler = handle};
  ledger_require(sigaction(SIGSEGV, &action, NULL) == 0, "sigaction works");
  ledger_require(mallopt(M_MMAP_THRESHOLD, 1 << 24) == 1, "large blocks can be on the heap");
  if (strcmp(word, "ends") == 0) {
    end_threads();
    by_malloc(5);
    ledger_end();
    return 0;
  }
  how = strcmp(word, "jumps") == 0 ? kJumps : strcmp(word, "returns") == 0 ? kReturns : kSwitches;
  if (how == kReturns) begin_context(0, allocate_twice);
  ledger_begin();
  last = by_malloc(kLarge);
  if (how == kSwitches) switch_away(count > 2 ? atoi(arguments[2]) : 1);
  for (size_t i = 0; how != kSwitches && i < kRounds; i++) {
    for (int kind = 0; kind < kKinds; kind++) {
      if (how == kJumps)
        jump_out(i, kind);
      else
        go_on(i, kind);
    }
  }
  if (how == kJumps) {
    ledger_value("left", kRounds * kKinds);
    ledger_value("left_with_a_block", kRounds / 2);
  }
  by_malloc(5);
  ledger_end();
  return 0;
}
