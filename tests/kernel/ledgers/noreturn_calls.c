/* Calls that are the last instruction of their function: the return address belongs to the next function already, whose
 * frame is another. In the compiler's code, and in code without a byte between the two functions. */
#include <setjmp.h>

#include "noted_stacks.h"

enum { kRounds = 30 };

static jmp_buf back;

extern void call_at_the_end(size_t n, void (*callee)(size_t));
__asm__(
    ".text\n"
    ".type call_at_the_end, @function\n"
    "call_at_the_end:\n"
    "  .cfi_startproc\n"
    "  sub $24, %rsp\n"
    "  .cfi_adjust_cfa_offset 24\n"
    "  call *%rsi\n"
    "  .cfi_endproc\n"
    ".size call_at_the_end, . - call_at_the_end\n"
    ".type frame_behind, @function\n"
    "frame_behind:\n"
    "  .cfi_startproc simple\n"
    "  .cfi_def_cfa %rsp, 4096\n"
    "  .cfi_offset %rip, -8\n"
    "  ud2\n"
    "  .cfi_endproc\n"
    ".size frame_behind, . - frame_behind\n");

SITE_FUNCTION void by_malloc(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  NOTE_STACK();
  if (n % 3) release(block);
}

__attribute__((noinline, noreturn)) static void leave(size_t n) {
  by_malloc(n);
  longjmp(back, 1);
}

SITE_FUNCTION void leaves(size_t n) {
  volatile char room[40];
  room[n % 40] = 1;
  leave(n + (size_t)room[n % 40]);
}

SITE_FUNCTION void calls_the_last(size_t n) {
  volatile char room[200];
  room[n % 200] = 1;
  call_at_the_end(n, leave);
  ledger_require(room[n % 200] == 2, "it does not come back here");
}

static void in_turn(size_t n) {
  if (n % 2)
    leaves(n);
  else
    calls_the_last(n);
}

int main(void) {
  ledger_begin();
  for (volatile size_t i = 1; i <= kRounds; i++)
    if (setjmp(back) == 0) in_turn(i);
  ledger_end();
  return 0;
}
