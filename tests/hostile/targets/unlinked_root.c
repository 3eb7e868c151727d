/* Runs from a file system that has been unmounted lazily, in a root directory that is empty, without /proc, and cannot
 * be traced or read by its own user: nothing of it can be reached by a name. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>

#include "odd_files.h"

static void run_from(char* program) {
  char path[8192];
  size_t length;
  make_odd_directory();
  ledger_require(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
                 "mounts can be its own");
  ledger_require(mount("none", odd_directory, "tmpfs", 0, NULL) == 0, "a file system can be mounted");
  char* contents = contents_of("/proc/self/exe", &length);
  snprintf(path, sizeof(path), "%s/copy", odd_directory);
  munmap(map_as_code(path, contents, length, NULL), length); /* it was open for writing */
  int file = open(path, O_RDONLY);
  ledger_require(umount2(odd_directory, MNT_DETACH) == 0, "it can be unmounted");
  remove_odd_directory();
  char* const arguments[] = {program, (char*)"inside", NULL};
  char* const environment[] = {NULL};
  fexecve(file, arguments, environment);
  ledger_require(0, "an unlinked program can be run");
}

int main(int argc, char** argv) {
  if (argc == 1) run_from(argv[0]);
  make_odd_directory();
  ledger_require(umount2("/proc", MNT_DETACH) == 0, "/proc can be unmounted");
  ledger_require(chdir(odd_directory) == 0 && mount("none", ".", "tmpfs", 0, NULL) == 0, "there is an empty place");
  int before = open("..", O_RDONLY | O_DIRECTORY);
  ledger_require(chroot(odd_directory) == 0, "the root can be changed");
  ledger_require(setuid(65534) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0, "it can be another user");
  ledger_begin();
  allocate_a_while(100);
  ledger_end();
  (void)before;
  return 0;
}
