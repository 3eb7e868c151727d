/* One of many builds of a program (LEDGER_BUILD): each has a frame of another size, and as many unwind rules as a large
 * library, which no other build has. Goes on for each byte that it is sent, until the end of the file. */
#include "noted_stacks.h"

enum { kBlocks = 100, kRoom = 4096 + 256 * LEDGER_BUILD };

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

/* Never called. */
__asm__(
    ".text\n"
    ".type many_rules, @function\n"
    "many_rules:\n"
    ".cfi_startproc\n"
    ".set ledger_frame, 1 << 20 | " TEXT(LEDGER_BUILD) " << 16\n"
    ".rept 3000\n"
    ".set ledger_frame, ledger_frame + 16\n"
    ".cfi_def_cfa_offset ledger_frame\n"
    "nop\n"
    ".endr\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size many_rules, . - many_rules\n");

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}

SITE_FUNCTION struct block in_large_frame(size_t n) {
  volatile char room[kRoom];
  room[0] = room[kRoom - 1] = 1;
  struct block block = by_malloc(n);
  ledger_require(room[0] + room[kRoom - 1] == 2, "the room keeps what is written");
  return block;
}

static int goes_on(void) {
  char byte;
  return read(0, &byte, 1) == 1;
}

int main(void) {
  ledger_begin();
  do {
    for (size_t i = 1; i <= kBlocks; i++) {
      struct block block = in_large_frame(i);
      if (i % 2) release(block);
    }
  } while (goes_on());
  ledger_close();
  return 0;
}
