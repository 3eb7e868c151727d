/* A signal after every single instruction of calls through the procedure linkage table, the first of which the dynamic
 * linker resolves: every prologue, every epilogue and every stub is interrupted at each place. The handler allocates
 * where the instruction lies in this program or in the vdso, and at some of the instructions elsewhere: the dynamic
 * linker has code whose callers only registers know that are not followed. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/auxv.h>
#include <time.h>
#include <ucontext.h>

#include "noted_stacks.h"

enum { kTrapFlag = 0x100, kVdsoBytes = 2 * 4096, kOneIn = 7 };

extern char __executable_start, etext;

static volatile int stepping;
static size_t steps, steps_elsewhere;

SITE_FUNCTION void in_handler(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  NOTE_STACK();
  if (n % 3) release(block);
}

SITE_FUNCTION void in_handler_elsewhere(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  NOTE_STACK();
  if (n % 3) release(block);
}

/* Whether the address is one at which every stack has to be complete. */
static int is_ours(uintptr_t address) {
  const uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
  return (address >= (uintptr_t)&__executable_start && address < (uintptr_t)&etext) ||
         (address >= vdso && address < vdso + kVdsoBytes);
}

static void on_step(int number, siginfo_t* info, void* context_pointer) {
  (void)number, (void)info;
  greg_t* registers = ((ucontext_t*)context_pointer)->uc_mcontext.gregs;
  if (is_ours((uintptr_t)registers[REG_RIP]))
    in_handler(1 + steps++);
  else if (steps_elsewhere++ % kOneIn == 0)
    in_handler_elsewhere(steps_elsewhere);
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
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (size_t)getppid() + (size_t)getpgrp() + leaf(n) - (now.tv_nsec < 0);
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
  /* So that the handler itself needs no dynamic linker. */
  in_handler(1);
  release((struct block){malloc(1), 1, NULL});
  ledger_begin();
  forget_ledger();
  forget_stacks();
  ledger_require(step_through(3) == step_through(3), "the same comes out again");
  ledger_require(steps > 150, "every instruction is stepped");
  ledger_varies("in_handler"); /* the vdso reads the clock again where the kernel has just set it */
  ledger_end();
  return 0;
}
