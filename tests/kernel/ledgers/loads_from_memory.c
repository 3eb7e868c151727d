/* loads_from_memory LIBRARY: maps a copy of a library that is in no directory, has it allocate, and unmaps it, so that
 * nothing is left of the file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "ledger.h"

int main(int argc, char** argv) {
  struct stat status;
  char path[32];

  ledger_require(argc == 2, "one argument");
  int library = open(argv[1], O_RDONLY | O_CLOEXEC), copy = memfd_create("library", MFD_CLOEXEC);
  ledger_require(library >= 0 && copy >= 0 && !fstat(library, &status) &&
                     sendfile(copy, library, NULL, status.st_size) == status.st_size,
                 "the library can be copied");
  snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
  ledger_begin();
  void* loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ledger_require(loaded != NULL && !close(copy), "dlopen finds it");
  void* (*allocate)(size_t) = (void* (*)(size_t))dlsym(loaded, "malloc");
  ledger_require(allocate && allocate(100), "it allocates");
  ledger_require(!dlclose(loaded) && !dlopen(path, RTLD_NOW | RTLD_NOLOAD), "it is gone");
  ledger_end();
  return 0;
}
