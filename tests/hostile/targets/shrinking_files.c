/* While hawktrace reads them, files that are mapped as code shrink and grow again, a thousand times a second: who reads
 * them through a mapping is killed by SIGBUS. */
#include "odd_files.h"

enum { kFiles = 4 };

int main(void) {
  char path[8192];
  size_t length;
  int files[kFiles];
  char* libc = contents_of(path_of_libc(), &length);
  make_odd_directory();
  for (int i = 0; i < kFiles; i++) {
    snprintf(path, sizeof(path), "%s/%d.so", odd_directory, i);
    map_as_code(path, libc, length, &files[i]);
    remove_odd_file(path);
  }
  remove_odd_directory();
  pid_t helper = fork_bound();
  if (helper == 0) {
    for (size_t i = 0;; i++) {
      int ignored = ftruncate(files[i % kFiles], i % 3 ? 100 : 0);
      ignored |= (int)pwrite(files[i % kFiles], libc, length, 0);
      (void)ignored;
    }
  }
  ledger_begin();
  allocate_a_while(300);
  kill(helper, SIGKILL);
  waitpid(helper, NULL, 0);
  ledger_end();
  return 0;
}
