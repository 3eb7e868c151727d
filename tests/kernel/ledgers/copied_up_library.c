/* copied_up_library LIBRARY: calls through a library, opens its file for writing, which an overlay file system answers
 * with a copy, and calls through what is mapped then. */
#include <dlfcn.h>
#include <fcntl.h>

#include "ledger.h"

typedef void (*work)(size_t);
typedef void (*library_function)(work, size_t);

SITE_FUNCTION void before(size_t n) { ALLOCATED(malloc(n), n); }
SITE_FUNCTION void after(size_t n) { ALLOCATED(malloc(n), n); }

static void* load(const char* path, library_function* function) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ledger_require(library != NULL, "dlopen finds the library");
  *function = (library_function)dlsym(library, "through_library");
  ledger_require(*function != NULL, "dlsym finds the function");
  return library;
}

int main(int argc, char** argv) {
  library_function function = NULL;
  ledger_require(argc == 2, "one argument");
  void* library = load(argv[1], &function);
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) function(before, i);
  ledger_require(dlclose(library) == 0, "dlclose works");
  const int file = open(argv[1], O_RDWR | O_CLOEXEC);
  ledger_require(file >= 0 && close(file) == 0, "the library can be written");
  load(argv[1], &function);
  for (size_t i = 1; i <= 100; i++) function(after, 2 * i);
  ledger_end();
  return 0;
}
