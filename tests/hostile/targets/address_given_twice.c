/* An arena that is reset without a free: the same addresses are returned again while their blocks, as seen by any
 * tracer, are live. */
#include "own_allocator.h"

int main(void) {
  ledger_begin();
  for (size_t round = 0; round < 10; round++) {
    own_used = 0;
    for (size_t i = 0; i < 100; i++) by_malloc(i + 1);
  }
  ledger_end();
  return 0;
}
