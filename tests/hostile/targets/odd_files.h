/* Files that are mapped as code, under a directory that is removed at the end. */
#ifndef HAWKTRACE_ODD_FILES_H
#define HAWKTRACE_ODD_FILES_H

#include <gnu/lib-names.h>
#include <stdio.h>
#include <sys/stat.h>

#include "hostile.h"

static char odd_directory[4096] = "/tmp/hawktrace-hostile-XXXXXX";

__attribute__((unused)) static void make_odd_directory(void) {
  ledger_require(mkdtemp(odd_directory) != NULL, "a directory can be made");
}

/* Only what lies in it: file by file. */
__attribute__((unused)) static void remove_odd_file(const char* path) {
  ledger_require(unlink(path) == 0, "a file can be removed");
}
__attribute__((unused)) static void remove_odd_directory(void) {
  ledger_require(rmdir(odd_directory) == 0, "nothing is left over");
}

/* The libc that this program runs with, from the list of its mappings. */
__attribute__((unused)) static const char* path_of_libc(void) {
  static char line[4096], path[4096];
  FILE* maps = fopen("/proc/self/maps", "r");
  while (fgets(line, sizeof(line), maps))
    if (strstr(line, "/" LIBC_SO) && sscanf(line, "%*s %*s %*s %*s %*s %4095s", path) == 1) break;
  fclose(maps);
  return path;
}

/* What `path` holds, and how long it is. */
__attribute__((unused)) static char* contents_of(const char* path, size_t* length) {
  struct stat status;
  int from = open(path, O_RDONLY | O_CLOEXEC);
  ledger_require(from >= 0 && fstat(from, &status) == 0, "the file can be read");
  *length = (size_t)status.st_size;
  char* contents = mmap(NULL, *length, PROT_READ | PROT_WRITE, MAP_PRIVATE, from, 0);
  ledger_require(contents != MAP_FAILED, "the file can be mapped");
  close(from);
  return contents;
}

/* Writes a file and maps all of it as code; `file` is -1, or becomes its descriptor. */
__attribute__((unused)) static char* map_as_code(const char* path, const char* contents, size_t length, int* file) {
  int into = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  ledger_require(into >= 0, "a file can be made");
  for (size_t done = 0; done < length;) {
    ssize_t written = write(into, contents + done, length - done);
    ledger_require(written > 0, "a file can be written");
    done += (size_t)written;
  }
  char* code = mmap(NULL, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, into, 0);
  ledger_require(code != MAP_FAILED, "a file can be mapped as code");
  if (file)
    *file = into;
  else
    close(into);
  return code;
}

#endif
