/* A signal after every single instruction of calls through the procedure linkage table, the first of which the dynamic
 * linker resolves: every prologue, every epilogue and every stub is interrupted at each place. The handler allocates
 * where the instruction lies in this program; inside libraries it only counts. */
#define _GNU_SOURCE
#include <signal.h>
#include <ucontext.h>

#include "noted_stacks.h"

enum { kTrapFlag = 0x100 };

extern char __executable_start, etext;

static volatile int stepping;
static size_t steps;

SITE_FUNCTION void in_handler(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  NOTE_STACK();
  if (n % 3) release(block);
}

static void on_step(int number, siginfo_t* info, void* context_pointer) {
  (void)number, (void)info;
  greg_t* registers = ((ucontext_t*)context_pointer)->uc_mcontext.gregs;
  const uintptr_t at = (uintptr_t)registers[REG_RIP];
  if (at >= (uintptr_t)&__executable_start && at < (uintptr_t)&etext) in_handler(1 + steps++);
  if (stepping)
    registers[REG_EFL] |= kTrapFlag;
  else
    registers[REG_EFL] &= ~kTrapFlag;
}

SITE_FUNCTION size_t saves_registers(size_t a, size_t b, size_t c, size_t (*next)(size_t)) {
  size_t x = next(a), y = next(b), z = next(c);
  return x * a + y * b + z * c + next(x + y + z);
}

SITE_FUNCTION size_t leaf(size_t n) {
  volatile char room[200];
  room[n % 200] = (char)n;
  return (size_t)room[n % 200] + 1;
}

SITE_FUNCTION size_t through_linkage_table(size_t n) {
  /* What no other function here calls. */
  return (size_t)getppid() + (size_t)getpgrp() + leaf(n);
}

SITE_FUNCTION size_t step_through(size_t n) {
  stepping = 1;
  raise(SIGTRAP);
  size_t sum = through_linkage_table(n);
  sum += saves_registers(1, 2, n, leaf);
  stepping = 0;
  return sum;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
  ledger_require(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction works");
  ledger_begin();
  ledger_require(step_through(3) == step_through(3), "the same comes out again");
  ledger_require(steps > 150, "every instruction is stepped");
  ledger_value("steps", steps);
  ledger_end();
  return 0;
}
