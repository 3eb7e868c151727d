/* Runs itself again, drops libc's breakpoints, and ends before hawktrace can look. */
#define _GNU_SOURCE
#include "hostile.h"

int main(int argc, char** argv) {
  if (argc == 1) {
    ledger_begin();
    execl("/proc/self/exe", argv[0], "again", NULL);
    return 1;
  }
  by_malloc(1);
  ledger_require(madvise((void*)((uintptr_t)malloc & ~4095ul), 4096, MADV_DONTNEED) == 0, "breakpoints can be dropped");
  for (size_t i = 1; i <= 100; i++) by_malloc(i);
  ledger_close();
  return 0;
}
