/* Calls back from code that is not in any .eh_frame. With LEDGER_OTHER_TABLE there is one, for another function. */
#include <stddef.h>

typedef void (*function)(size_t);
void through_library(function callee, size_t n);

void through_library(function callee, size_t n) {
  volatile char room[136];
  room[n % 136] = 1;
  callee(n + (size_t)room[n % 136] - 1);
  room[n % 136] = 2;
}

#ifdef LEDGER_OTHER_TABLE
__asm__(
    ".text\n"
    "  .fill 64, 1, 0xcc\n"
    ".type described, @function\n"
    "described:\n"
    "  .cfi_startproc\n"
    "  push %rbx\n"
    "  .cfi_adjust_cfa_offset 8\n"
    "  pop %rbx\n"
    "  .cfi_adjust_cfa_offset -8\n"
    "  ret\n"
    "  .cfi_endproc\n"
    ".size described, . - described\n");
#endif
