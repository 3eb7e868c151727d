/* A program whose system calls are answered without knowledge of that of the kernel's return probes, and ends if there
 * is one: its own SIGSYS handler ("dispatched", in a thread of its own), or a process that supervises it
 * ("supervised"). One that calls itself strace only looks ("watched"). "before" as the second argument: before the
 * trace begins, otherwise during it. "counted" as the third: the trace sees what is allocated meanwhile. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "ledger.h"

enum { kBlocks = 100, kLastKnownCall = 334, kDenied = 97 };

static volatile char selector; /* 1: every system call of the thread is dispatched */

static int is_counted; /* if not, what they get is not: it cannot be known */

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

static void allocate(void) {
  for (size_t i = 1; i <= kBlocks; i++) {
    selector = 1;
    if (is_counted) {
      release(by_malloc(i));
    } else {
      void* block = malloc(i);
      free(block);
    }
    selector = 0;
  }
}

static void on_dispatched(int number) {
  (void)number;
  selector = 0;
  _exit(kDenied);
}

static void dispatch_calls(void) {
  struct sigaction action = {.sa_handler = on_dispatched};
  sigaction(SIGSYS, &action, NULL);
  ledger_require(prctl(59 /* PR_SET_SYSCALL_USER_DISPATCH */, 1, 0, 0, &selector) == 0, "calls can be dispatched");
}

static int is_denying = 1;

/* Lets `pid` make the calls it knows, until it ends; or all of them. */
static void supervise(pid_t pid, int told) {
  int status = 0;
  ptrace(PTRACE_SEIZE, pid, 0, PTRACE_O_TRACESYSGOOD);
  ptrace(PTRACE_INTERRUPT, pid, 0, 0);
  for (int is_told = 0; waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status);) {
    struct __ptrace_syscall_info call = {.op = PTRACE_SYSCALL_INFO_NONE};
    int number = WSTOPSIG(status) == (SIGTRAP | 0x80) || status >> 16 ? 0 : WSTOPSIG(status);
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(call), &call);
    if (is_denying && call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.nr > kLastKnownCall) {
      struct user_regs_struct registers;
      ptrace(PTRACE_GETREGS, pid, 0, &registers);
      registers.orig_rax = (unsigned long long)-1;
      ptrace(PTRACE_SETREGS, pid, 0, &registers);
    }
    ptrace(PTRACE_SYSCALL, pid, 0, number);
    if (!is_told && write(told, "t", 1) == 1) is_told = 1;
  }
  _exit(0);
}

static void get_supervised(void) {
  int told[2];
  char byte;
  pid_t pid = getpid();
  ledger_require(pipe(told) == 0, "there are pipes");
  if (fork() == 0) {
    if (!is_denying) prctl(PR_SET_NAME, "strace");
    supervise(pid, told[1]);
  }
  while (read(told[0], &byte, 1) < 0 && errno == EINTR) continue;
}

static pthread_barrier_t turn;
static int is_before;

static void* work(void* argument) {
  free(malloc(64 << 10)); /* the thread has a heap from now on, and need not ask for one */
  if (is_before) dispatch_calls();
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  if (!is_before) dispatch_calls();
  allocate();
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn); /* a thread that ends frees what is its own */
  return argument;
}

static void run_dispatched(void) {
  pthread_t thread;
  pthread_barrier_init(&turn, NULL, 2);
  ledger_require(pthread_create(&thread, NULL, work, NULL) == 0, "the thread can be created");
  pthread_barrier_wait(&turn);
  ledger_begin();
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
}

static void run_supervised(void) {
  if (is_before) get_supervised();
  ledger_begin();
  if (!is_before) {
    get_supervised();
    ledger_loss("untraced_children", 1); /* the supervisor */
  }
  if (is_denying) allocate();
}

static void run_watched(void) {
  is_denying = 0;
  run_supervised();
  for (size_t i = 1; i <= kBlocks; i++) {
    struct block block = by_malloc(i);
    if (i % 2) release(block);
  }
  ledger_end();
  _exit(0);
}

int main(int argc, char** argv) {
  ledger_require(argc > 2, "it is told what to do");
  is_before = strcmp(argv[2], "before") == 0;
  is_counted = argc > 3 && strcmp(argv[3], "counted") == 0;
  if (strcmp(argv[1], "watched") == 0) run_watched();
  if (strcmp(argv[1], "supervised") == 0)
    run_supervised();
  else
    run_dispatched();
  if (!is_counted) {
    ledger_loss("intercepted_calls", kBlocks);
    ledger_value("untraced_frees", kBlocks);
  }
  ledger_end();
  _exit(0);
}
