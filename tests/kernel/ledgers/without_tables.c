/* DIRECTORY: libraries without .eh_frame in the middle of the chain: with frame pointers, so that the way on can be
 * guessed; without; with an .eh_frame that leaves the code out; with .debug_frame instead. */
#include <dlfcn.h>

#include "ledger.h"

enum { kRounds = 60 };

typedef void (*function)(size_t);
typedef void (*library_function)(function, size_t);

static struct block last;

SITE_FUNCTION void below_gap(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void below_no_table(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void below_no_frame(size_t n) { last = ALLOCATED(malloc(n), n); }
SITE_FUNCTION void below_debug_frame(size_t n) { last = ALLOCATED(malloc(n), n); }

SITE_FUNCTION void call_library(library_function through, function callee, size_t n) {
  volatile char room[72];
  room[n % 72] = 1;
  through(callee, n);
  ledger_require(room[n % 72] == 1, "the library keeps its hands off the stack");
}

static library_function load(const char* directory, const char* name) {
  char path[512];
  ledger_require(strlen(directory) + strlen(name) < sizeof(path), "a short path");
  void* library = dlopen(strcat(strcpy(path, directory), name), RTLD_NOW | RTLD_LOCAL);
  ledger_require(library != NULL, "dlopen finds the library");
  library_function through = (library_function)dlsym(library, "through_library");
  ledger_require(through != NULL, "dlsym finds the function");
  return through;
}

int main(int argc, char** argv) {
  ledger_require(argc == 2, "one argument");
  library_function gap = load(argv[1], "libtable_with_gap.so");
  library_function no_table = load(argv[1], "libno_table.so");
  library_function no_frame = load(argv[1], "libno_table_no_frame.so");
  library_function debug_frame = load(argv[1], "libdebug_frame.so");
  ledger_begin();
  for (size_t i = 1; i <= kRounds; i++) {
    call_library(gap, below_gap, i);
    if (i % 2) release(last);
    call_library(no_table, below_no_table, i);
    if (i % 3) release(last);
    call_library(no_frame, below_no_frame, i);
    if (i % 5) release(last);
    call_library(debug_frame, below_debug_frame, i);
    if (i % 7) release(last);
  }
  ledger_end();
  return 0;
}
