/* libc's code is dropped or moved to another place, breakpoints and all, so that the file shows through without them;
 * or it is put into a large page, or can only be executed and not read, which changes nothing. */
#define _GNU_SOURCE
#include <link.h>

#include "hostile.h"

enum { kCollapse = 25 }; /* MADV_COLLAPSE, newer than the headers */

static uintptr_t code;
static size_t code_bytes;
static int find_libc(struct dl_phdr_info* info, size_t size, void* nothing) {
  (void)size, (void)nothing;
  if (!strstr(info->dlpi_name, "/libc.so")) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X)) continue;
    code = (info->dlpi_addr + segment->p_vaddr) & ~4095ul;
    code_bytes = (segment->p_memsz + 4095) & ~4095ul;
  }
  return 1;
}

static int change(const char* how) {
  void* page = (void*)((uintptr_t)malloc & ~4095ul);
  if (!strcmp(how, "moved")) return syscall(SYS_mremap, page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, 0) != -1;
  if (!strcmp(how, "dropped")) return madvise(page, 4096, MADV_DONTNEED) == 0;
  if (!strcmp(how, "execute_only")) return mprotect((void*)code, code_bytes, PROT_EXEC) == 0;
  /* The kernel may have none, or none of files. */
  return madvise((void*)code, code_bytes, kCollapse) == 0 || errno != EFAULT;
}

int main(int argc, char** argv) {
  ledger_require(argc == 2 && dl_iterate_phdr(find_libc, NULL) == 1, "libc can be found");
  ledger_begin();
  allocate_a_while(30);
  ledger_require(change(argv[1]), "the code can be changed so");
  allocate_a_while(30);
  ledger_end();
  return 0;
}
