/* A hundred copies of a library with an allocator, each another file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#include "odd_files.h"

enum { kLibraries = 100 };
static void* (*mallocs[kLibraries])(size_t);
static void (*frees[kLibraries])(void*);
SITE_FUNCTION struct block by_other(int i, size_t n) { return ALLOCATED(mallocs[i](n), n); }

static void copy(const char* from, const char* to) {
  char buffer[1 << 16];
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0700);
  ledger_require(in >= 0 && out >= 0, "the library can be copied");
  for (ssize_t got; (got = read(in, buffer, sizeof(buffer))) > 0;)
    ledger_require(write(out, buffer, (size_t)got) == got, "it can be written");
  close(in);
  close(out);
}

int main(int argc, char** argv) {
  char library[4096], path[8192];
  ledger_require(argc == 1, "it is called as expected");
  strcpy(library, argv[0]);
  strcpy(strrchr(library, '/'), "/libsmall_allocator_library.so");
  make_odd_directory();
  for (int i = 0; i < kLibraries; i++) {
    snprintf(path, sizeof(path), "%s/%d.so", odd_directory, i);
    copy(library, path);
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ledger_require(handle != NULL, "it can be loaded");
    remove_odd_file(path);
    mallocs[i] = (void* (*)(size_t))dlsym(handle, "malloc");
    frees[i] = (void (*)(void*))dlsym(handle, "free");
    ledger_require(mallocs[i] != malloc && (i == 0 || mallocs[i] != mallocs[i - 1]), "it is another one");
  }
  remove_odd_directory();
  ledger_begin();
  allocate_a_while(100);
  for (int i = 0; i < kLibraries; i++) {
    struct block freed = by_other(i, (size_t)i + 1);
    by_other(i, (size_t)i + 10);
    frees[i](freed.address);
    ledger_freed(freed);
  }
  ledger_end();
  return 0;
}
