/* Opens its libc for writing, which an overlay file system answers with a copy, and runs itself again, with that copy
 * under the same number: the probes are on the original. With "ends": it ends at once, before any look. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "ledger.h"

SITE_FUNCTION void by_malloc(size_t n) { ALLOCATED(malloc(n), n); }

int main(int argc, char** argv) {
  Dl_info libc;
  ledger_require(dladdr(dlsym(RTLD_DEFAULT, "malloc"), &libc) != 0, "libc can be found");
  const int ends = strcmp(argv[argc - 1], "ends") == 0;
  if (argc <= 1 + ends) {
    ledger_begin();
    const int file = open(libc.dli_fname, O_RDWR | O_CLOEXEC);
    ledger_require(file >= 0 && close(file) == 0, "libc can be opened for writing");
    execl("/proc/self/exe", argv[0], "again", ends ? argv[1] : "waits", (char*)NULL);
    ledger_require(0, "the program can be run again");
  }
  for (size_t i = 1; i <= 100; i++) by_malloc(i);
  if (ends)
    ledger_close();
  else
    ledger_end();
  return 0;
}
