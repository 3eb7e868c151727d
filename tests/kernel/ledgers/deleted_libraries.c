/* DIRECTORY COUNT STAYING: maps DIRECTORY/0.so and so on for execution, COUNT of them, before the trace begins; then
 * deletes and unmaps them, and maps STAYING others. By hand, because dlopen allocates. */
#include <fcntl.h>
#include <sys/mman.h>

#include "ledger.h"

enum { kCodeBytes = 4096, kMost = 200 };

static void* code[kMost];

SITE_FUNCTION void allocate(size_t n) {
  struct block block = ALLOCATED(malloc(n), n);
  if (n % 3 == 0) release(block);
}

static void name_of(char* path, const char* directory, size_t number) {
  size_t at = strlen(directory);
  memcpy(path, directory, at);
  at += ledger_format(path + at, number);
  memcpy(path + at, ".so", 4);
}

static void map(const char* directory, size_t number) {
  char path[512];
  name_of(path, directory, number);
  const int file = open(path, O_RDONLY);
  ledger_require(file >= 0, "every copy is there");
  code[number] = mmap(NULL, kCodeBytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  ledger_require(code[number] != MAP_FAILED && close(file) == 0, "it can be mapped");
}

static void delete_and_unmap(const char* directory, size_t number) {
  char path[512];
  name_of(path, directory, number);
  ledger_require(unlink(path) == 0, "it can be deleted");
  ledger_require(munmap(code[number], kCodeBytes) == 0, "it can be unmapped");
}

int main(int argc, char** argv) {
  ledger_require(argc == 4 && strlen(argv[1]) < 400, "three arguments, a short path");
  const size_t count = (size_t)atoi(argv[2]), staying = (size_t)atoi(argv[3]);
  ledger_require(count + staying <= kMost, "no more than kMost files");
  for (size_t i = 0; i < count; i++) map(argv[1], i);
  ledger_begin();
  for (size_t i = 0; i < count; i++) {
    allocate(i + 1);
    delete_and_unmap(argv[1], i);
  }
  for (size_t i = 0; i < staying; i++) map(argv[1], count + i);
  ledger_end();
  return 0;
}
