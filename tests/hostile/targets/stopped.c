/* Stopped when hawktrace comes, by SIGSTOP, by the freezer of its cgroup, or in a debugger's hands: it runs again only
 * when hawktrace says that it counts. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>

#include "relay.h"

static char mount_point[] = "/tmp/hawktrace-freezer-XXXXXX";
static char file_name[256];

static void write_to(const char* file, const char* text) {
  snprintf(file_name, sizeof(file_name), "%s/hawktrace-%d/%s", mount_point, (int)getpid(), file);
  int into = open(file_name, O_WRONLY);
  ledger_require(into >= 0 && write(into, text, strlen(text)) > 0, "the cgroup can be written");
  close(into);
}

/* In the helper: the target into a cgroup of its own. */
static void make_group(pid_t target) {
  char number[16];
  snprintf(number, sizeof(number), "%d", (int)target);
  ledger_require(mkdtemp(mount_point) && mount("none", mount_point, "cgroup2", 0, NULL) == 0, "there are cgroups");
  snprintf(file_name, sizeof(file_name), "%s/hawktrace-%d", mount_point, (int)getpid());
  ledger_require(mkdir(file_name, 0700) == 0, "a cgroup can be made");
  write_to("cgroup.procs", number);
}

static void remove_group(pid_t target) {
  char number[16];
  snprintf(number, sizeof(number), "%d", (int)target);
  snprintf(file_name, sizeof(file_name), "%s/cgroup.procs", mount_point);
  int into = open(file_name, O_WRONLY);
  ledger_require(into >= 0 && write(into, number, strlen(number)) > 0, "it can be left");
  close(into);
  snprintf(file_name, sizeof(file_name), "%s/hawktrace-%d", mount_point, (int)getpid());
  ledger_require(rmdir(file_name) == 0 && umount(mount_point) == 0 && rmdir(mount_point) == 0, "nothing is left over");
}

static int is_frozen(void) {
  char text[64] = "";
  snprintf(file_name, sizeof(file_name), "%s/hawktrace-%d/cgroup.events", mount_point, (int)getpid());
  int from = open(file_name, O_RDONLY);
  ledger_require(read(from, text, sizeof(text) - 1) > 0, "the cgroup tells");
  close(from);
  return strstr(text, "frozen 1") != NULL;
}

static void by_freezer(pid_t target) {
  make_group(target);
  write_to("cgroup.freeze", "1");
  while (!is_frozen()) continue;
  ledger_begin();
  write_to("cgroup.freeze", "0");
  remove_group(target);
}

static char state_of(pid_t target) {
  char text[256] = "";
  snprintf(file_name, sizeof(file_name), "/proc/%d/stat", (int)target);
  int from = open(file_name, O_RDONLY);
  ledger_require(read(from, text, sizeof(text) - 1) > 0, "the target is there");
  close(from);
  return strrchr(text, ')')[2];
}

static void by_signal(pid_t target) {
  kill(target, SIGSTOP);
  while (state_of(target) != 'T') continue;
  ledger_begin();
  kill(target, SIGCONT);
}

static void by_debugger(pid_t target) {
  ledger_require(ptrace(PTRACE_SEIZE, target, NULL, NULL) == 0 && ptrace(PTRACE_INTERRUPT, target, NULL, NULL) == 0,
                 "the parent can be traced");
  waitpid(target, NULL, __WALL);
  ledger_begin();
  ptrace(PTRACE_DETACH, target, NULL, NULL);
}

int main(int argc, char** argv) {
  struct relay relay;
  relay_open(&relay);
  pid_t target = getpid();
  if (fork_bound() == 0) {
    relay_wait(relay.to_helper);
    (argv[argc - 1][0] == 'f' ? by_freezer : argv[argc - 1][0] == 's' ? by_signal : by_debugger)(target);
    relay_send(relay.to_target);
    _exit(0);
  }
  relay_send(relay.to_helper);
  relay_wait(relay.to_target);
  allocate_a_while(100);
  wait(NULL);
  ledger_end();
  return 0;
}
