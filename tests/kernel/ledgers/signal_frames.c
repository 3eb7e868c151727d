/* Signal handlers that allocate, on the stack of what they interrupt: a loop, at whatever instruction; a function at
 * its first instruction; one in its middle; a system call. With LEDGER_ALTERNATE_STACK they run on stacks of their own,
 * one that lies below the thread's and one above it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "noted_stacks.h"

enum { kRounds = 20, kStackBytes = 1 << 20 };

/* The round in which the loop runs, and up to which it has been released. */
static atomic_ulong spinning, released;

/* The words in the frame below lead to nowhere: a rule that is taken one byte too early goes there. */
extern void trap_at_first_instruction(void);
extern int load_from(const int* address);
__asm__(
    ".text\n"
    ".type frame_before, @function\n"
    "frame_before:\n"
    "  .cfi_startproc\n"
    "  sub $4096, %rsp\n"
    "  .cfi_adjust_cfa_offset 4096\n"
    "  nop\n"
    "  .cfi_endproc\n"
    ".size frame_before, . - frame_before\n"
    ".type trap_at_first_instruction, @function\n"
    "trap_at_first_instruction:\n"
    "  .cfi_startproc\n"
    "  ud2\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size trap_at_first_instruction, . - trap_at_first_instruction\n"
    ".type load_from, @function\n"
    "load_from:\n"
    "  .cfi_startproc\n"
    "  push %rbx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  .cfi_offset %rbx, -16\n"
    "  mov (%rdi), %eax\n"
    "  pop %rbx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size load_from, . - load_from\n");
enum { kTrapBytes = 2, kLoadBytes = 2 };

SITE_FUNCTION void in_handler(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  NOTE_STACK();
  if (n % 2) release(block);
}

/* The interrupted loop continues after this. */
static void on_interruption(int number) {
  in_handler((size_t)number + 100);
  atomic_store(&released, atomic_load(&spinning));
}

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)info;
  in_handler((size_t)number + 200);
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += number == SIGILL ? kTrapBytes : kLoadBytes;
}

static void on_raise(int number) { in_handler((size_t)number + 300); }

SITE_FUNCTION void spin(size_t round) {
  atomic_store(&spinning, round);
  while (atomic_load(&released) != round) continue;
}

SITE_FUNCTION void trap(size_t round) {
  volatile char room[24];
  room[round % 24] = 1;
  trap_at_first_instruction();
  ledger_require(load_from(NULL) != -1 && room[round % 24] == 1, "the handler steps over the trap");
}

struct task {
  char* alternate;
  pthread_barrier_t start;
};

static void* work(void* task_pointer) {
  struct task* task = task_pointer;
  stack_t alternate = {.ss_sp = task->alternate, .ss_size = kStackBytes};
  ledger_require(!task->alternate || sigaltstack(&alternate, NULL) == 0, "the alternate stack is accepted");
  pthread_barrier_wait(&task->start);
  for (size_t round = 1; round <= kRounds; round++) {
    spin(round);
    trap(round);
    raise(SIGUSR2);
  }
  return NULL;
}

static void handle(int number, void (*simple)(int), void (*with_context)(int, siginfo_t*, void*)) {
  struct sigaction action = {.sa_flags = SA_ONSTACK | (with_context ? SA_SIGINFO : 0)};
  if (with_context)
    action.sa_sigaction = with_context;
  else
    action.sa_handler = simple;
  ledger_require(sigaction(number, &action, NULL) == 0, "sigaction works");
}

static pthread_t create_thread(char* stack, struct task* task) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_barrier_init(&task->start, NULL, 2);
  pthread_attr_init(&attributes);
  ledger_require(pthread_attr_setstack(&attributes, stack, kStackBytes) == 0, "the stack is accepted");
  ledger_require(pthread_create(&thread, &attributes, work, task) == 0, "the thread can be created");
  return thread;
}

/* Lets the thread run, and interrupts its loop in each round. */
static void interrupt(pthread_t thread, struct task* task) {
  atomic_store(&released, 0);
  pthread_barrier_wait(&task->start);
  for (size_t round = 1; round <= kRounds; round++) {
    while (atomic_load(&spinning) != round) continue;
    ledger_require(pthread_kill(thread, SIGUSR1) == 0, "pthread_kill works");
    while (atomic_load(&released) != round) continue;
  }
  pthread_join(thread, NULL);
}

int main(void) {
  char* stacks = mmap(NULL, 4 * kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(stacks != MAP_FAILED, "mmap works");
  struct task above = {.alternate = NULL}, below = {.alternate = NULL};
#ifdef LEDGER_ALTERNATE_STACK
  above.alternate = stacks + kStackBytes;
  below.alternate = stacks + 2 * kStackBytes;
#endif
  handle(SIGUSR1, on_interruption, NULL);
  handle(SIGUSR2, on_raise, NULL);
  handle(SIGILL, NULL, on_trap);
  handle(SIGSEGV, NULL, on_trap);
  pthread_t first = create_thread(stacks, &above);
  pthread_t second = create_thread(stacks + 3 * kStackBytes, &below);
  ledger_begin();
  interrupt(first, &above);
  interrupt(second, &below);
  ledger_end();
  return 0;
}
