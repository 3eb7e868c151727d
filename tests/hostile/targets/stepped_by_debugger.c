/* A debugger steps over every instruction of the allocator's calls, the probed ones included, and calls malloc itself
 * by writing the registers, as gdb does for "call malloc(24)". */
#include <sys/ptrace.h>
#include <sys/user.h>

#include "relay.h"

enum { kCalls = 50 };

static volatile int is_traced, is_over;
static volatile uint64_t calls_by_debugger;
SITE_FUNCTION void landing(void) {
  for (;;) __asm__ volatile("int3");
}

static void wait_for_stop(pid_t target) {
  int status = 0;
  ledger_require(waitpid(target, &status, __WALL) == target && WIFSTOPPED(status), "the target stops");
}

/* Calls malloc in the target: its return address is an int3. */
static void call_malloc(pid_t target, size_t n) {
  struct user_regs_struct saved, call;
  ledger_require(ptrace(PTRACE_GETREGS, target, NULL, &saved) == 0, "registers can be read");
  call = saved;
  call.rsp = ((saved.rsp - 1024) & ~15ull) - 8;
  call.rip = (uintptr_t)malloc;
  call.rdi = n;
  call.orig_rax = UINT64_MAX;
  ptrace(PTRACE_POKEDATA, target, call.rsp, (uintptr_t)landing);
  ptrace(PTRACE_SETREGS, target, NULL, &call);
  ptrace(PTRACE_CONT, target, NULL, NULL);
  wait_for_stop(target);
  ptrace(PTRACE_GETREGS, target, NULL, &call);
  ledger_require(call.rax != 0, "malloc gives a block");
  ptrace(PTRACE_SETREGS, target, NULL, &saved);
}

static void debug(pid_t target, struct relay* relay) {
  relay_wait(relay->to_helper);
  ledger_require(ptrace(PTRACE_SEIZE, target, NULL, NULL) == 0, "the parent can be traced");
  ptrace(PTRACE_INTERRUPT, target, NULL, NULL);
  wait_for_stop(target);
  for (size_t i = 1; i <= kCalls; i++) call_malloc(target, i);
  ptrace(PTRACE_POKEDATA, target, (void*)&is_traced, 1ul);
  while (ptrace(PTRACE_PEEKDATA, target, (void*)&is_over, NULL) == 0) {
    ptrace(PTRACE_SINGLESTEP, target, NULL, NULL);
    wait_for_stop(target);
  }
  ptrace(PTRACE_DETACH, target, NULL, NULL);
  _exit(0);
}

int main(void) {
  struct relay relay;
  relay_open(&relay);
  pid_t target = getpid();
  pid_t debugger = fork_bound();
  if (debugger == 0) debug(target, &relay);
  static struct ledger_site called __attribute__((section("ledger_sites"), used)) = {"debugger", 0, 0, 0, 0};
  ledger_begin();
  relay_send(relay.to_helper);
  while (!is_traced) continue;
  allocate_a_while(15);
  is_over = 1;
  int status = 1;
  waitpid(debugger, &status, 0);
  say("debugger", (uint64_t)status);
  called.allocated_count = kCalls;
  called.allocated_bytes = kCalls * (kCalls + 1) / 2;
  ledger_end();
  return 0;
}
