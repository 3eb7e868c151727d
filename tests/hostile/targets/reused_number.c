/* The traced process ends, and the next process, which allocates without end, is given its number. */
#define _GNU_SOURCE
#include <linux/sched.h>
#include <sched.h>

#include "relay.h"

static pid_t fork_with_number(pid_t number) {
  struct clone_args arguments = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};
  return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

int main(void) {
  struct relay relay;
  relay_open(&relay);
  const pid_t first = fork();
  ledger_require(first >= 0, "there is a process");
  if (first == 0) {
    relay_wait(relay.to_helper);
    ledger_begin();
    allocate_a_while(100);
    for (struct ledger_site* site = __start_ledger_sites; site < __stop_ledger_sites; site++)
      ledger_line("site", site->function, &site->allocated_bytes, 4);
    _exit(3);
  }
  trace_instead(first);
  relay_send(relay.to_helper);
  int status = 0;
  waitpid(first, &status, 0);
  say("first", (uint64_t)WEXITSTATUS(status));
  const pid_t second = fork_with_number(first);
  ledger_require(second >= 0, "the number can be had again");
  if (second == 0) {
    allocate_a_while(2000);
    _exit(4);
  }
  waitpid(second, &status, 0);
  say("second", (uint64_t)WEXITSTATUS(status));
  ledger_write("done\n", 5);
  return 0;
}
