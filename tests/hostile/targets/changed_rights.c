/* During the trace it becomes another user, forbids to be looked at, leaves its root, its descriptors and its session,
 * and takes another name. */
#define _GNU_SOURCE
#include <linux/close_range.h>
#include <sched.h>

#include "hostile.h"

int main(void) {
  ledger_begin();
  allocate_a_while(30);
  ledger_require(unshare(CLONE_FILES | CLONE_FS | CLONE_NEWNS | CLONE_SYSVSEM) == 0, "it can be on its own");
  syscall(SYS_close_range, 2, ~0u, 0);
  allocate_a_while(30);
  ledger_require(chroot("/proc/self/fdinfo") == 0 && setsid() >= -1, "it can leave its root");
  allocate_a_while(30);
  ledger_require(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0, "it can be nobody");
  ledger_require(prctl(PR_SET_DUMPABLE, 0) == 0 && prctl(PR_SET_NAME, "\n\x1b[2J) R 1") == 0, "it can be unseen");
  ledger_require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "it can give up what it has");
  allocate_a_while(30);
  ledger_end();
  return 0;
}
