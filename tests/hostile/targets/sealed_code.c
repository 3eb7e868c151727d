/* The allocator lies in a memfd without a name, sealed against every change, mapped as code, and loaded through
 * /proc/self/fd; then another such library grows while it is mapped. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "odd_files.h"

int main(int argc, char** argv) {
  (void)argc;
  char path[256];
  size_t length;
  char* slash = strrchr(argv[0], '/');
  snprintf(path, sizeof(path), "%.*s/libsealed_library.so", (int)(slash - argv[0]), argv[0]);
  char* library = contents_of(path, &length);
  int sealed = memfd_create("\x1b[1mlibc.so.6", MFD_ALLOW_SEALING);
  ledger_require(write(sealed, library, length) == (ssize_t)length, "a memfd can be written");
  fcntl(sealed, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", sealed);
  void* loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ledger_require(loaded != NULL, "a sealed library can be loaded");
  struct block (*in_library)(size_t) = (struct block(*)(size_t))dlsym(loaded, "block_of_library");
  close(sealed);
  ledger_require(in_library != NULL, "the library has its function");
  static struct ledger_site sealed_site __attribute__((section("ledger_sites"), used)) = {"sealed_library", 0, 0, 0, 0};
  ledger_begin();
  allocate_a_while(100);
  for (size_t i = 1; i <= 100; i++) {
    struct block block = in_library(i);
    block.site = &sealed_site;
    sealed_site.allocated_bytes += i;
    sealed_site.allocated_count++;
    if (i % 2) release(block);
  }
  ledger_end();
  return 0;
}
