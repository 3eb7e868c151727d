/* An allocator of the executable's own whose calls are left in the middle, as any instruction of any allocator may be:
 * what malloc writes to is not there, and the handler of the signal does not come back. malloc calls nothing, and has
 * an instruction where size and result are known. "stays": the handler allocates, makes the memory accessible and
 * returns, so that the call goes on. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "ledger.h"

enum { kRounds = 50, kHeapBytes = 1 << 22, kPageBytes = 4096, kHeaderBytes = 16, kMostBytes = 1 << 16 };

/* Bump allocators, one a thread. */
static _Thread_local char *next, *end;
static char* of_handler; /* memory that its calls are given */
static _Thread_local sigjmp_buf back;
static _Thread_local char* guarded; /* where the next call ends */
static _Thread_local int how;

/* An instruction that the kernel emulates, where both are known and nothing but the return is left. */
#define KNOWN(block, n) __asm__ volatile("nop" : "+r"(block) : "r"(n))

__attribute__((noinline, noipa)) void* malloc(size_t n) {
  char* block;
  if (n > kMostBytes) return NULL;
  block = next;
  if (block + kHeaderBytes + n > end) return NULL;
  *(volatile size_t*)block = n;
  next = block + ((kHeaderBytes + n + 15) & ~(size_t)15);
  block += kHeaderBytes;
  KNOWN(block, n);
  return block;
}

__attribute__((noinline, noipa)) void free(void* block) { __asm__ volatile("" ::"r"(block) : "memory"); }

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block in_handler(size_t n) { return ALLOCATED(malloc(n), n); }

static void make_heap(void) {
  char* heap = mmap(NULL, kHeapBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(heap != MAP_FAILED, "mmap works");
  next = heap;
  end = heap + kHeapBytes - kPageBytes;
  ledger_require(mprotect(end, kPageBytes, PROT_NONE) == 0, "mprotect works");
  guarded = end;
  end += kPageBytes;
}

enum { kJumps, kStays, kEndsThread, kEndsBySystemCall };

static void handle(int number) {
  (void)number;
  switch (how) {
    case kJumps:
      siglongjmp(back, 1);
    case kEndsThread:
      pthread_exit(NULL);
    case kEndsBySystemCall:
      syscall(SYS_exit, 0);
  }
  /* The allocator's own state is what its interrupted call has read already. */
  char* interrupted = next;
  next = of_handler;
  release(in_handler(77));
  in_handler(78);
  of_handler = next;
  next = interrupted;
  mprotect(guarded, kPageBytes, PROT_READ | PROT_WRITE);
}

SITE_FUNCTION void left(void) {
  char* before = next;
  next = guarded;
  if (how == kStays) {
    release(by_malloc(40));
    mprotect(guarded, kPageBytes, PROT_NONE);
  } else if (sigsetjmp(back, 1) == 0) {
    by_malloc(40);
    ledger_require(0, "the call does not return");
  }
  next = before;
}

/* Writes every word of the stack that the calls have used. */
SITE_FUNCTION void use_stack_again(void) {
  volatile size_t frame[1024];
  for (size_t i = 0; i < 1024; i++) frame[i] = i;
  ledger_require(frame[1023] == 1023, "memory keeps what is written");
}

static void work(void) {
  for (size_t i = 1; i <= kRounds; i++) {
    left();
    if (i % 3) use_stack_again();
    for (size_t j = 1; j <= 4; j++) {
      struct block block = by_malloc(i * j);
      if (j < 3) release(block);
    }
  }
}

static pthread_barrier_t start;

/* Ends inside a call. */
static void* ending(void* argument) {
  size_t number = (size_t)argument;
  make_heap();
  how = number % 2 ? kEndsThread : kEndsBySystemCall;
  pthread_barrier_wait(&start);
  for (size_t i = 1; i <= 5; i++) release(by_malloc(number * 10 + i));
  left();
  return NULL;
}

static void* only_exit(void* argument) {
  make_heap();
  (void)argument;
  pthread_exit(NULL);
}

enum { kThreads = 20 };

int main(int count, char** arguments) {
  pthread_t threads[kThreads], first;
  struct sigaction action = {.sa_handler = handle};
  make_heap();
  of_handler = next + kHeapBytes / 2;
  ledger_require(sigaction(SIGSEGV, &action, NULL) == 0, "sigaction works");
  how = count > 1 && strcmp(arguments[1], "stays") == 0 ? kStays : kJumps;
  pthread_create(&first, NULL, only_exit, NULL); /* makes libc load its unwinder before the trace */
  pthread_join(first, NULL);
  pthread_barrier_init(&start, NULL, kThreads + 1);
  for (size_t i = 0; how == kJumps && i < kThreads; i++) pthread_create(&threads[i], NULL, ending, (void*)i);
  ledger_begin();
  work();
  if (how == kJumps) {
    pthread_barrier_wait(&start);
    for (size_t i = 0; i < kThreads; i++) pthread_join(threads[i], NULL);
    ledger_value("left", kRounds + kThreads);
  }
  by_malloc(5);
  ledger_end();
  return 0;
}
