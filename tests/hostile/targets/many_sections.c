/* A file with 65,279 sections, each of which claims to be a symbol table as large as the address space; and one whose
 * tables of symbols and strings lie on top of each other, and point beyond the end. */
#include <elf.h>

#include "odd_files.h"

enum { kSections = 65279, kName = 1 };

static void claim(Elf64_Shdr* section, uint32_t type, uint64_t size, uint32_t link) {
  *section = (Elf64_Shdr){.sh_name = kName,
                          .sh_type = type,
                          .sh_flags = SHF_ALLOC,
                          .sh_addr = 4096,
                          .sh_offset = sizeof(Elf64_Ehdr),
                          .sh_size = size,
                          .sh_link = link,
                          .sh_entsize = sizeof(Elf64_Sym)};
}

static void map_file(const char* name, uint64_t size) {
  char path[8192];
  size_t length = sizeof(Elf64_Ehdr) + kSections * sizeof(Elf64_Shdr);
  Elf64_Ehdr* header = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memcpy(header->e_ident, ELFMAG "\2\1\1", 7);
  header->e_type = ET_DYN;
  header->e_machine = EM_X86_64;
  header->e_version = 1;
  header->e_ehsize = sizeof(Elf64_Ehdr);
  header->e_shoff = sizeof(Elf64_Ehdr);
  header->e_shentsize = sizeof(Elf64_Shdr);
  header->e_shnum = kSections;
  header->e_shstrndx = 2;
  Elf64_Shdr* sections = (Elf64_Shdr*)(header + 1);
  for (uint32_t i = 1; i < kSections; i++) {
    claim(&sections[i],
          i % 5 == 0   ? SHT_SYMTAB
          : i % 5 == 1 ? SHT_DYNSYM
          : i % 5 == 2 ? SHT_STRTAB
          : i % 5 == 3 ? SHT_NOTE
                       : SHT_GROUP,
          size, i + 2 - i % 5);
  }
  snprintf(path, sizeof(path), "%s/%s", odd_directory, name);
  map_as_code(path, (char*)header, length, NULL);
  remove_odd_file(path);
  munmap(header, length);
}

int main(void) {
  make_odd_directory();
  map_file("endless", UINT64_MAX / 2);
  map_file("overlapping", kSections * sizeof(Elf64_Shdr));
  remove_odd_directory();
  ledger_begin();
  allocate_a_while(100);
  ledger_end();
  return 0;
}
