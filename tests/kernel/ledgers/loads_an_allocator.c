/* loads_an_allocator LIBRARY: maps a library with allocator functions during the trace. */
#include <dlfcn.h>

#include "ledger.h"

int main(int argc, char** argv) {
  ledger_require(argc == 2, "one argument");
  ledger_begin();
  ledger_require(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) != NULL, "dlopen finds the library");
  ledger_loss("late_allocators", 1);
  ledger_end();
  return 0;
}
