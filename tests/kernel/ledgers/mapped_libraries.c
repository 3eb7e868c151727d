/* mapped_libraries DIRECTORY COUNT: loads DIRECTORY/0.so and so on, COUNT of them, before the trace begins. Then a
 * block is allocated through each. */
#include <dlfcn.h>

#include "ledger.h"

typedef void (*work)(size_t);
typedef void (*library_function)(work, size_t);

enum { kMost = 4000 };

static library_function functions[kMost];

SITE_FUNCTION void allocate(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  if (n % 3 == 0) release(block);
}

static void load(const char* directory, size_t number) {
  char path[512];
  size_t at = strlen(directory);
  ledger_require(at < 400, "a short path");
  memcpy(path, directory, at);
  path[at++] = '/';
  at += ledger_format(path + at, number);
  memcpy(path + at, ".so", 4);
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  ledger_require(library != NULL, "dlopen finds every copy");
  functions[number] = (library_function)dlsym(library, "through_library");
  ledger_require(functions[number] != NULL, "dlsym finds the function");
}

int main(int argc, char** argv) {
  ledger_require(argc == 3, "two arguments");
  const size_t count = (size_t)atoi(argv[2]);
  ledger_require(count <= kMost, "no more than kMost libraries");
  for (size_t i = 0; i < count; i++) load(argv[1], i);
  ledger_begin();
  for (size_t i = 0; i < count; i++) functions[i](allocate, i + 1);
  ledger_value("stacks", count);
  ledger_end();
  return 0;
}
