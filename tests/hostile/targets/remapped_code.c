/* Puts libc's code elsewhere in the sense of the kernel, and in the same place in every other: anonymous memory with
 * the same bytes, as programs do that want huge pages under their code, or the same file mapped shared. No probe can be
 * placed there. The argument selects which, and whether before or during the trace. */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>

#include "odd_files.h"

static char* begin;
static size_t length, offset;

static int find_code(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size;
  (void)unused;
  for (int i = 0; strstr(info->dlpi_name, "/" LIBC_SO) && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    begin = (char*)((info->dlpi_addr + part->p_vaddr) & ~4095ul);
    length = (part->p_vaddr + part->p_memsz - (part->p_vaddr & ~4095ul) + 4095) & ~4095ul;
    offset = part->p_offset & ~4095ul;
  }
  return 0;
}

/* Nothing of libc is called between the moment in which its code is away and that in which it is back. */
static void remap(const char* how, int file) {
  if (how[0] == 's') {
    ledger_require(mmap(begin, length, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, file, (off_t)offset) == begin,
                   "code can be mapped shared");
    return;
  }
  char* copy = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  /* From the file: who copies the code itself copies the breakpoints in it, and dies of them. */
  ledger_require(pread(file, copy, length, (off_t)offset) == (ssize_t)length, "libc can be read");
  mprotect(copy, length, PROT_READ | PROT_EXEC);
  ledger_require(mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, begin) == begin, "code can be replaced");
}

int main(int argc, char** argv) {
  (void)argc;
  const int is_before = argv[2][0] == 'b';
  int file = open(path_of_libc(), O_RDONLY);
  dl_iterate_phdr(find_code, NULL);
  ledger_require(begin != NULL && file >= 0, "libc's code is found");
  if (is_before) remap(argv[1], file);
  ledger_begin();
  allocate_a_while(100);
  if (!is_before) remap(argv[1], file);
  allocate_a_while(100);
  ledger_end();
  return 0;
}
