/* Under a seccomp filter that kills for every system call but the few that it needs, or asks a supervisor in another
 * process, which refuses what it does not know and takes note of it; or confined by Landlock to no file at all. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>

#include "relay.h"

static const int kKnown[] = {SYS_read,   SYS_write,   SYS_brk,        SYS_mmap,    SYS_munmap,
                             SYS_mremap, SYS_madvise, SYS_exit_group, SYS_mprotect};
enum { kKnownCount = sizeof(kKnown) / sizeof(kKnown[0]) };

static int filter(uint32_t otherwise, unsigned flags) {
  struct sock_filter program[2 + 2 * kKnownCount];
  size_t at = 0;
  program[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < kKnownCount; i++) {
    program[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)kKnown[i], 0, 1);
    program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  program[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
  struct sock_fprog filter = {(unsigned short)at, program};
  ledger_require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "privileges can be given up");
  return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

static volatile uint64_t* refused;

/* In the supervisor: refuses each call, and counts. */
static void supervise(int listener) {
  for (;;) {
    struct seccomp_notif request = {0};
    struct seccomp_notif_resp response = {0};
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) _exit(0);
    (*refused)++;
    response.id = request.id;
    response.error = -EPERM;
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
  }
}

static void run(const char* how) {
  free(malloc(1)); /* the first call of all asks for random bytes */
  if (how[0] == 'k') ledger_require(filter(SECCOMP_RET_KILL_PROCESS, 0) == 0, "a filter can be set");
  if (how[0] == 'e') ledger_require(filter(SECCOMP_RET_ERRNO | EPERM, 0) == 0, "a filter can be set");
  if (how[0] == 'l') {
    struct landlock_ruleset_attr rules = {.handled_access_fs =
                                              LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE |
                                              LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_WRITE_FILE};
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
    ledger_require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "privileges can be given up");
    ledger_require(ruleset >= 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0, "there is Landlock");
  }
  if (how[0] == 'n') {
    /* To send the listener takes a system call that the filter does not know: the supervisor takes it from here. */
    int listener = filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    ledger_require(listener >= 0, "a filter with a listener can be set");
    *(refused + 1) = (uint64_t)listener;
  }
  ledger_begin();
  allocate_a_while(300);
  say("refused", *refused);
  ledger_end();
}

int main(int argc, char** argv) {
  refused = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pid_t target = getpid();
  if (argv[argc - 1][0] == 'n' && fork_bound() == 0) {
    while (refused[1] == 0) continue;
    int handle = (int)syscall(SYS_pidfd_open, target, 0);
    supervise((int)syscall(SYS_pidfd_getfd, handle, (int)refused[1], 0));
  }
  run(argv[argc - 1]);
  return 0;
}
