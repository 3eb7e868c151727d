/* idle_allocator LIBRARY [over]: a program in which another library defines an allocator as well, which is never
 * called. "over": at last data lies where that library's code was, and the program ends at once: no call was missed,
 * for none can call what is not there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

static struct {
  char* start;
  size_t bytes;
} code;

static int find_code(struct dl_phdr_info* module, size_t size, void* allocator) {
  (void)size;
  for (size_t i = 0; i < module->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &module->dlpi_phdr[i];
    char* start = (char*)((module->dlpi_addr + segment->p_vaddr) & ~4095ul);
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    if ((char*)allocator < start || (char*)allocator >= start + segment->p_memsz) continue;
    code.start = start;
    code.bytes = (segment->p_memsz + 4095) & ~(size_t)4095;
    return 1;
  }
  return 0;
}

static void map_over(void) {
  char* data = mmap(code.start, code.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ledger_require(data == code.start, "data can take the place of code");
  memset(data, 1, code.bytes);
}

int main(int argc, char** argv) {
  ledger_require(argc > 1, "it is told which library");
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  ledger_require(library != NULL, "the library can be loaded");
  dl_iterate_phdr(find_code, dlsym(library, "malloc"));
  ledger_require(code.start != NULL, "its code can be found");
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) by_malloc(i);
  if (argc > 2) {
    map_over();
    ledger_close();
    _exit(0);
  }
  ledger_end();
  _exit(0);
}
