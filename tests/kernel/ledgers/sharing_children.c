/* Processes that are no threads, but work on the same memory: made by clone(CLONE_VM), and by vfork. Each allocates in
 * turn, and what it leaves is freed by the others. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ledger.h"

enum { kChildren = 5, kBlocks = 20, kStackBytes = 1 << 18 };

static struct block blocks[kBlocks];

SITE_FUNCTION struct block by_parent(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION struct block by_child(size_t n) { return ALLOCATED(malloc(n), n); }

static int work(void* number) {
  for (size_t i = 0; i < kBlocks; i++) {
    release(blocks[i]);
    blocks[i] = by_child((size_t)number * 100 + i);
  }
  return 0;
}

static void wait_for(pid_t child) {
  int status = 0;
  ledger_require(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
}

int main(int argc, char** argv) {
  (void)argv;
  if (argc > 1) return 0;
  char* stack = mmap(NULL, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* again[] = {(char*)"again", (char*)"child", NULL};
  ledger_require(stack != MAP_FAILED, "mmap works");
  ledger_begin();
  for (size_t i = 0; i < kBlocks; i++) blocks[i] = by_parent(i);
  for (size_t i = 1; i <= kChildren; i++) wait_for(clone(work, stack + kStackBytes, CLONE_VM | SIGCHLD, (void*)i));
  pid_t child = vfork();
  if (child == 0) {
    release(by_child(1));
    execv("/proc/self/exe", again);
    _exit(1);
  }
  wait_for(child);
  for (size_t i = 0; i < kBlocks; i++) release(blocks[i]);
  ledger_value("children", kChildren + 1);
  ledger_loss("untraced_children", 1); /* the one that runs another program */
  ledger_end();
  return 0;
}
