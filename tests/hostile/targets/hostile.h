/* What a hostile target is made of: a ledger program (tests/kernel/ledgers/ledger.h) whose own words are compared too.
 * A line "said ..." must be the same whether the program is traced or not; so must its ledger, unless the row of the
 * target says that they vary, and its exit status. */
#ifndef HAWKTRACE_HOSTILE_H
#define HAWKTRACE_HOSTILE_H

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/kernel/ledgers/ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_calloc(size_t n) { return ALLOCATED(calloc(1, n), n); }
SITE_FUNCTION struct block by_realloc(struct block old, size_t n) {
  return REALLOCATED(old, realloc(old.address, n), n);
}
SITE_FUNCTION struct block by_posix_memalign(size_t alignment, size_t n) {
  void* address = NULL;
  if (posix_memalign(&address, alignment, n) != 0) address = NULL;
  return ALLOCATED(address, n);
}

/* Some of every kind of call; a third of the blocks stays. */
__attribute__((unused)) static void allocate_a_while(size_t rounds) {
  for (size_t i = 1; i <= rounds; i++) {
    struct block grown = by_realloc(by_malloc(i % 500 + 1), i % 700 + 2);
    struct block aligned = by_posix_memalign(64, i % 300 + 1);
    struct block zeroed = by_calloc(i % 100 + 1);
    release(zeroed);
    if (i % 3) release(grown);
    if (i % 3 != 1) release(aligned);
  }
}

/* A word of the target, with a number. */
__attribute__((unused)) static void say(const char* what, uint64_t number) { ledger_line("said", what, &number, 1); }

/* Names the process to trace, if it is not the one that was started. */
__attribute__((unused)) static void trace_instead(pid_t pid) {
  uint64_t number = (uint64_t)pid;
  char line[32] = "pid ";
  size_t length = 4 + ledger_format(line + 4, number);
  line[length++] = '\n';
  ledger_write(line, length);
}

/* Ends with the program that started it. */
__attribute__((unused)) static pid_t fork_bound(void) {
  pid_t child = fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL);
  return child;
}

#endif
