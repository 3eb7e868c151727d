/* A signal after every single instruction of malloc, for blocks of several sizes. What its handler does at one of them,
 * a later one each time:
 *
 *     nothing
 *     allocates   allocates a block of the size that malloc is asked for, and frees it
 *     returns     frees one of that size, and allocates it again
 *     gives       frees one of that size, right after the branch that leaves those sizes which are no small ones
 *     leaves      does not return
 *     stays       once, at the end, and does not return before the trace ends
 *     forks       once, at the end; both processes go on
 *
 * So that an allocator which is surprised by that finds its lists as they were, except after "gives": then they have
 * one more before it looks. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "ledger.h"

enum { kTrapFlag = 0x100, kMostSteps = 24, kRounds = 6, kMallocBytes = 0x100, kGivenAt = 11 };
static const size_t kSizes[] = {0, 24, 200, 1024, 1025, 5000, 40000};
enum { kSizeCount = sizeof(kSizes) / sizeof(kSizes[0]) };

enum deed { kNothing, kAllocates, kReturns, kGives, kLeaves, kStays, kForks };
static const char* const kDeeds[] = {"nothing", "allocates", "returns", "gives", "leaves", "stays", "forks"};

static enum deed deed;
static uintptr_t malloc_at;
static volatile sig_atomic_t stepping;
static size_t steps, acts_at, acts, bytes_asked;
static int is_child;
static struct block spare;
static sigjmp_buf before_call;

SITE_FUNCTION struct block in_handler(size_t bytes) { return ALLOCATED(malloc(bytes), bytes); }

static void stay(void) {
  ledger_end();
  _exit(0);
}

static void make_process(void) {
  const pid_t child = fork();
  is_child = child == 0;
  ledger_require(is_child || waitpid(child, NULL, 0) == child, "the child is waited for");
}

static void act(void) {
  acts++;
  if (deed == kStays) stay();
  if (deed == kForks) make_process();
  if (deed == kAllocates) release(in_handler(bytes_asked));
  if (deed != kReturns && deed != kGives) return;
  release(spare);
  spare = (struct block){0};
  if (deed == kReturns) spare = in_handler(bytes_asked);
}

static void on_step(int number, siginfo_t* info, void* context_pointer) {
  (void)number, (void)info;
  greg_t* registers = ((ucontext_t*)context_pointer)->uc_mcontext.gregs;
  if (!stepping) {
    registers[REG_EFL] &= ~kTrapFlag;
    return;
  }
  registers[REG_EFL] |= kTrapFlag;
  const uintptr_t at = (uintptr_t)registers[REG_RIP];
  if (at <= malloc_at || at >= malloc_at + kMallocBytes || ++steps != acts_at) return;
  act();
  if (deed == kLeaves) siglongjmp(before_call, 1);
}

SITE_FUNCTION struct block stepped(size_t bytes) {
  /* The block that the next call gets, from the same place, may be the one that was seen last. */
  release(ALLOCATED(malloc(bytes), bytes));
  stepping = 1;
  raise(SIGTRAP);
  void* volatile address = malloc(bytes);
  stepping = 0;
  return ALLOCATED(address, bytes);
}

SITE_FUNCTION struct block at_once(size_t bytes) { return ALLOCATED(malloc(bytes), bytes); }

static void call(size_t bytes, size_t step) {
  bytes_asked = bytes;
  acts_at = step;
  steps = 0;
  spare = at_once(bytes);
  if (sigsetjmp(before_call, 1)) {
    stepping = 0;
    release(spare);
    return;
  }
  struct block block = stepped(bytes);
  /* Some are kept, so that lists become empty. */
  if (step % 3) release(block);
  if (spare.address) release(spare);
  spare = (struct block){0};
  if (is_child) _exit(0);
}

/* Calls at each step, and for each size. */
static void call_often(void) {
  const int is_given = deed == kGives;
  for (size_t round = 0; round < kRounds; round++)
    for (size_t size = 0; size < kSizeCount; size++)
      for (size_t step = is_given ? kGivenAt - 2 : 1; step <= (is_given ? kGivenAt : kMostSteps); step++)
        call(kSizes[size], step);
}

int main(int argc, char** argv) {
  const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  for (size_t i = 0; argc > 1 && i < sizeof(kDeeds) / sizeof(kDeeds[0]); i++)
    if (strcmp(argv[1], kDeeds[i]) == 0) deed = (enum deed)i;
  malloc_at = (uintptr_t)dlsym(RTLD_DEFAULT, "malloc");
  ledger_require(malloc_at != 0, "malloc is found");
  ledger_require(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction works");
  spare = stepped(1); /* what the dynamic linker resolves */
  release(spare);
  release(at_once(1));
  ledger_begin();
  forget_ledger();
  steps = acts = 0;
  if (deed == kStays || deed == kForks)
    call(kSizes[1], kGivenAt);
  else
    call_often();
  ledger_require(deed == kNothing || acts > 0, "the handler acts");
  ledger_varies("in_handler"); /* where there is a breakpoint there is no step */
  ledger_varies("stepped");
  ledger_end();
  return 0;
}
