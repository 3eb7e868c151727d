/* One allocation so deep that its stack is cut and flagged; its numbers are right. How deep: 300 calls, or as the
 * argument says, so many frames in all. */
#include "noted_stacks.h"

SITE_FUNCTION struct block by_malloc(size_t n) {
  NOTE_STACK();
  return ALLOCATED(malloc(n), n);
}
SITE_FUNCTION struct block descend(size_t levels, size_t n) {
  struct block block = levels ? descend(levels - 1, n) : by_malloc(n);
  __asm__ volatile("" ::: "memory");
  return block;
}

int main(int argc, char** argv) {
  size_t levels = 300;
  if (argc > 1) {
    descend(0, 1);
    levels = (size_t)atoi(argv[1]) - (noted_stacks[0].count + 1);
  }
  ledger_begin();
  forget_ledger();
  forget_stacks();
  descend(levels, 777);
  if (noted_stacks[0].count + 1 > 256) {
    ledger_loss("truncated_stacks", 1);
    ledger_value("incomplete_stacks", 1);
  }
  ledger_value("stacks", 1);
  ledger_value("frames", noted_stacks[0].count + 1);
  ledger_end();
  return 0;
}
