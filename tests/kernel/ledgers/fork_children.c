/* Children by fork and vfork, which free what they inherited, allocate, and run other programs: none of it counts. */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>

#include "ledger.h"

enum { kBlocks = 200, kChildren = 4 };

extern char** environ;
static struct block blocks[kBlocks];

SITE_FUNCTION struct block by_parent(size_t n) { return ALLOCATED(malloc(n), n); }
SITE_FUNCTION void* by_child(size_t n) { return malloc(n); }

/* In the child: heavy use of the same addresses, not in the ledger. */
static void disturb(void) {
  for (size_t i = 0; i < kBlocks; i++) free(blocks[i].address);
  for (size_t i = 0; i < 20000; i++) free(by_child(1 + i % 2000));
  for (size_t i = 0; i < 1000; i++) ledger_require(by_child(1 + i) != NULL, "the child allocates");
  _exit(0);
}

static void wait_for(pid_t child) {
  int status = 0;
  ledger_require(waitpid(child, &status, 0) == child && status == 0, "the child ends well");
}

int main(int argc, char** argv) {
  if (argc > 1) disturb();
  char* again[] = {argv[0], (char*)"child", NULL};
  ledger_begin();
  for (size_t i = 0; i < kBlocks; i++) blocks[i] = by_parent(i * 3 + 1);
  for (size_t i = 0; i < kChildren; i++) {
    pid_t forked = fork();
    if (forked == 0) disturb();
    release(by_parent(1000 + i)); /* while the child is at work */
    pid_t other = vfork();
    if (other == 0) {
      execv("/proc/self/exe", again);
      _exit(1);
    }
    pid_t spawned;
    ledger_require(posix_spawn(&spawned, "/proc/self/exe", NULL, NULL, again, environ) == 0, "posix_spawn works");
    wait_for(forked);
    wait_for(other);
    wait_for(spawned);
  }
  for (size_t i = 0; i < kBlocks; i += 2) release(blocks[i]);
  ledger_value("untraced_frees", 0);
  ledger_loss("untraced_children", 3 * kChildren);
  ledger_end();
  return 0;
}
