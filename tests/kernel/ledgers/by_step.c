/* Allocates a block of 4 MiB, all of which it uses, for each "s" that it reads, and none any more after another letter.
 */
#include "ledger.h"

enum { kBytes = 4 << 20, kMost = 256 };

SITE_FUNCTION struct block by_step(void) {
  void* address = malloc(kBytes);
  if (address != NULL) memset(address, 1, kBytes);
  return ALLOCATED(address, kBytes);
}

int main(void) {
  static struct block blocks[kMost];
  char letter = 0;
  ledger_write("ready\n", 6);
  for (int i = 0; i < kMost && read(0, &letter, 1) == 1 && letter == 's'; i++) {
    blocks[i] = by_step();
    ledger_write("step\n", 5);
  }
  ledger_end();
  return 0;
}
