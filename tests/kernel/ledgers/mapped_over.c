/* DIRECTORY: the code of one library, mapped by hand before the trace begins. Then the same mapped elsewhere, called at
 * once, again and again; and that of another library mapped over it and back, likewise. What holds for one would lead a
 * walk astray in the other. */
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "ledger.h"

enum { kRounds = 200, kKnownRounds = 50, kPage = 4096 };

typedef void (*function)(size_t);
typedef void (*mapped_function)(function, size_t, uintptr_t);

struct code {
  int file;
  off_t offset;
  size_t bytes;
  size_t entry; /* from the start of the mapping */
};

static char* region;
static uintptr_t decoy;

SITE_FUNCTION void on_known(size_t n) { release(ALLOCATED(malloc(n), n)); }
SITE_FUNCTION void on_elsewhere(size_t n) { release(ALLOCATED(malloc(n), n)); }
SITE_FUNCTION void on_first(size_t n) { release(ALLOCATED(malloc(n), n)); }
SITE_FUNCTION void on_second(size_t n) { release(ALLOCATED(malloc(n), n)); }

SITE_FUNCTION void set_decoy(void) { decoy = (uintptr_t)__builtin_return_address(0); }
/* What decoys say has called. */
SITE_FUNCTION void decoy_caller(void) {
  set_decoy();
  __asm__ volatile("" ::: "memory");
}

SITE_FUNCTION void call_mapped(const struct code* code, function callee, size_t n) {
  ((mapped_function)(uintptr_t)(region + code->entry))(callee, n, decoy);
  __asm__ volatile("" ::: "memory");
}

/* Where the code of a library lies in its file. */
static struct code open_library(const char* directory, const char* name) {
  char path[512], start[kPage];
  struct code code = {0};
  ledger_require(strlen(directory) + strlen(name) < sizeof(path), "a short path");
  code.file = open(strcat(strcpy(path, directory), name), O_RDONLY);
  ledger_require(read(code.file, start, sizeof(start)) == sizeof(start), "the library can be read");
  const Elf64_Ehdr* header = (const Elf64_Ehdr*)(const void*)start;
  const Elf64_Phdr* segments = (const Elf64_Phdr*)(const void*)(start + header->e_phoff);
  for (size_t i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && (segments[i].p_flags & PF_X)) {
      code.offset = (off_t)segments[i].p_offset;
      code.bytes = segments[i].p_filesz;
      code.entry = header->e_entry - segments[i].p_vaddr;
    }
  ledger_require(code.bytes > 0 && code.offset % kPage == 0, "the library has code");
  return code;
}

static void map(const struct code* code) {
  void* at = mmap(region, code->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, code->file, code->offset);
  ledger_require(at == region, "mmap puts the code where it shall be");
}

static void map_elsewhere(const struct code* code) {
  region = mmap(NULL, code->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, code->file, code->offset);
  ledger_require(region != MAP_FAILED, "the code can be mapped again");
}

int main(int argc, char** argv) {
  ledger_require(argc == 2, "one argument");
  struct code first = open_library(argv[1], "libmapped_over_first.so");
  struct code second = open_library(argv[1], "libmapped_over_second.so");
  region = mmap(NULL, 16 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ledger_require(region != MAP_FAILED, "mmap works");
  map(&first);
  decoy_caller();
  ledger_begin();
  for (size_t i = 1; i <= kKnownRounds; i++) call_mapped(&first, on_known, i);
  char* known = region;
  for (size_t i = 1; i <= kKnownRounds; i++) {
    map_elsewhere(&first);
    call_mapped(&first, on_elsewhere, i);
  }
  region = known;
  for (size_t i = 1; i <= kRounds; i++) {
    map(&second);
    call_mapped(&second, on_second, i);
    map(&first);
    call_mapped(&first, on_first, i);
  }
  ledger_end();
  return 0;
}
