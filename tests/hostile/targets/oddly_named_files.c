/* Maps copies of libc under names with newlines, escape sequences, bytes that are no UTF-8, " (deleted)", and one that
 * is as long as names can be; and has such a name itself. Each copy defines malloc: all are candidates for probes. */
#include "odd_files.h"

static const char* const kNames[] = {"new\nline.so",
                                     "\x1b]0;title\x07\x1b[2J\x1b[31mred.so",
                                     "\xff\xfe\xc0\x80.so",
                                     "libc.so.6 (deleted)",
                                     "%s%n%d {} {0} \\n \"quoted\" 'so'",
                                     "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234 libc.so.6",
                                     "\xe2\x80\xae"
                                     "gpj.os",
                                     " \t\r"};
enum { kCount = sizeof(kNames) / sizeof(kNames[0]) };

int main(void) {
  char path[8192], name[200];
  size_t length;
  char* libc = contents_of(path_of_libc(), &length);
  make_odd_directory();
  for (int i = 0; i < kCount; i++) {
    snprintf(path, sizeof(path), "%s/%s", odd_directory, kNames[i]);
    map_as_code(path, libc, length, NULL);
  }
  /* The longest name, by steps: no path may have more than 4,095 bytes. */
  memset(name, 'x', sizeof(name));
  name[199] = 0;
  int depth;
  ledger_require(chdir(odd_directory) == 0, "the directory can be entered");
  for (depth = 0; depth < 30; depth++) ledger_require(mkdir(name, 0700) == 0 && chdir(name) == 0, "it can be deep");
  map_as_code("\x1b[5mdeep.so", libc, length, NULL);
  remove_odd_file("\x1b[5mdeep.so");
  while (depth-- > 0) ledger_require(chdir("..") == 0 && rmdir(name) == 0, "it can be left");
  prctl(PR_SET_NAME, "\x1b[2J\n\x7f\xff:(x)");
  ledger_begin();
  allocate_a_while(100);
  for (int i = 0; i < kCount; i++) {
    snprintf(path, sizeof(path), "%s/%s", odd_directory, kNames[i]);
    remove_odd_file(path);
  }
  remove_odd_directory();
  ledger_end();
  return 0;
}
