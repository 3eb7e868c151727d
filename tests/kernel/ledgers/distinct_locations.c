/* Stacks that share hardly an address: each passes through code of its own, of which there are 24,000 copies. */
#include "ledger.h"

enum { kStacks = 4000, kLocationsPerStack = 6, kLocationBytes = 16 };

#define LOCATIONS "24000" /* kStacks * kLocationsPerStack */

__asm__(
    ".pushsection .text\n"
    ".balign 16\n"
    ".type one_of_many, @function\n"
    "one_of_many:\n"
    ".cfi_startproc\n"
    ".rept " LOCATIONS
    "\n"
    "push %rbp\n"
    ".cfi_adjust_cfa_offset 8\n"
    ".cfi_rel_offset %rbp, 0\n"
    "mov %rsp, %rbp\n"
    "call go_on\n"
    "pop %rbp\n"
    ".cfi_adjust_cfa_offset -8\n"
    ".cfi_restore %rbp\n"
    "ret\n"
    ".balign 16\n"
    ".endr\n"
    ".cfi_endproc\n"
    ".size one_of_many, . - one_of_many\n"
    ".popsection\n");
extern const char one_of_many[] __attribute__((visibility("hidden")));
void go_on(void) __attribute__((visibility("hidden")));

static size_t next_location, left;
static struct block last;

SITE_FUNCTION void leaf(size_t n) { last = ALLOCATED(malloc(n), n); }

__attribute__((noinline, used)) void go_on(void) {
  if (left == 0) {
    leaf(1 + next_location % 100);
  } else {
    left--;
    ((void (*)(void))(uintptr_t)(one_of_many + kLocationBytes * next_location++))();
  }
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < kStacks; i++) {
    left = kLocationsPerStack;
    go_on();
    if (i % 2) release(last);
  }
  ledger_end();
  return 0;
}
