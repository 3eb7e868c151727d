/* An allocator that tolerates what no allocator has to: blocks freed twice, pointers that it never gave out, pointers
 * into blocks. Of all that only the first free of a block is one. */
#include "own_allocator.h"

int main(void) {
  ledger_begin();
  for (size_t i = 0; i < 1000; i++) {
    struct block block = by_malloc(i + 1);
    free((char*)block.address + 1);
    free((void*)(i * 4096));
    free((void*)(UINT64_MAX - i));
    free((void*)main);
    if (i % 2) {
      release(block);
      free(block.address);
      free(block.address);
    }
  }
  ledger_end();
  return 0;
}
