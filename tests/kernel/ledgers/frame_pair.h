/* A call through a frame of our own making: what a walk along frame pointers finds there is what the ledger put there.
 */
#ifndef HAWKTRACE_FRAME_PAIR_H
#define HAWKTRACE_FRAME_PAIR_H

#include "ledger.h"

/* What rbp points to: the caller's rbp, and where its function returns to. */
struct frame_pair {
  void* saved_rbp;
  void* return_address;
};

/* Calls function(n) with rbp = pair. */
extern void call_on_pair(size_t n, volatile struct frame_pair* pair, void (*function)(size_t));
__asm__(
    ".text\n"
    ".type call_on_pair, @function\n"
    "call_on_pair:\n"
    "  push %rbp\n"
    "  mov %rsi, %rbp\n"
    "  call *%rdx\n"
    "  pop %rbp\n"
    "  ret\n"
    ".size call_on_pair, . - call_on_pair\n");

#endif
