/* The traced process lives in namespaces of its own: of users, where it is root and outside the user nobody; of
 * processes, where it is number 1; of time, whose clocks are years ahead; without /proc. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <time.h>

#include "relay.h"

static void write_to(const char* file, const char* text) {
  int into = open(file, O_WRONLY);
  ledger_require(into >= 0 && write(into, text, strlen(text)) > 0, file);
  close(into);
}

static int run(void) {
  ledger_require(mount("none", "/proc", "tmpfs", 0, NULL) == 0, "/proc can be covered");
  say("own number", (uint64_t)getpid());
  ledger_begin();
  allocate_a_while(100);
  ledger_end();
  return 0;
}

int main(void) {
  struct relay relay;
  relay_open(&relay);
  ledger_require(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWNET) == 0,
                 "namespaces can be made");
  ledger_require(syscall(SYS_unshare, 0x00000080) == 0, "a namespace of time can be made"); /* CLONE_NEWTIME */
  write_to("/proc/self/timens_offsets", "monotonic 900000000 0\nboottime 900000000 0\n");
  write_to("/proc/self/setgroups", "deny");
  write_to("/proc/self/uid_map", "0 0 1");
  ledger_require(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "mounts are its own");
  pid_t child = fork_bound();
  if (child == 0) {
    relay_wait(relay.to_helper);
    _exit(run());
  }
  trace_instead(child);
  relay_send(relay.to_helper);
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}
