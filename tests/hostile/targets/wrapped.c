/* The allocator is wrapped by a library that allocates more, at another address (wrapping_library.c). */
#include "hostile.h"

int main(void) {
  ledger_begin();
  allocate_a_while(500);
  ledger_end();
  return 0;
}
