/* Sparse files of a tebibyte, mapped as code, whose symbol table, string table or notes fill all of it with zeros. */
#include <elf.h>

#include "odd_files.h"

static const uint32_t kTypes[] = {SHT_SYMTAB, SHT_DYNSYM, SHT_STRTAB, SHT_NOTE, SHT_PROGBITS};
enum { kTypeCount = sizeof(kTypes) / sizeof(kTypes[0]), kSections = 5 };
static const uint64_t kSize = 1ull << 40;

static void map_file(uint32_t type) {
  struct {
    Elf64_Ehdr header;
    Elf64_Phdr parts[2];
    Elf64_Shdr sections[kSections];
    char names[64];
  } file = {0};
  char path[8192];
  memcpy(file.header.e_ident, ELFMAG "\2\1\1", 7);
  file.header.e_type = ET_DYN;
  file.header.e_machine = EM_X86_64;
  file.header.e_version = 1;
  file.header.e_ehsize = sizeof(Elf64_Ehdr);
  file.header.e_phoff = sizeof(Elf64_Ehdr);
  file.header.e_phentsize = sizeof(Elf64_Phdr);
  file.header.e_phnum = 2;
  file.header.e_shoff = (uint64_t)((char*)file.sections - (char*)&file);
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = kSections;
  file.header.e_shstrndx = 1;
  file.parts[0] =
      (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = kSize, .p_memsz = kSize, .p_align = 4096};
  file.parts[1] =
      (Elf64_Phdr){.p_type = PT_NOTE, .p_flags = PF_R, .p_offset = 4096, .p_filesz = kSize - 4096, .p_align = 4};
  memcpy(file.names, "\0.symtab\0.eh_frame\0.debug_info", 31);
  file.sections[1] =
      (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = (uint64_t)(file.names - (char*)&file), .sh_size = 64};
  file.sections[2] = (Elf64_Shdr){.sh_name = 1,
                                  .sh_type = type,
                                  .sh_flags = SHF_ALLOC,
                                  .sh_addr = 4096,
                                  .sh_offset = 4096,
                                  .sh_size = kSize - 4096,
                                  .sh_link = 1,
                                  .sh_entsize = type == SHT_SYMTAB || type == SHT_DYNSYM ? sizeof(Elf64_Sym) : 0};
  file.sections[3] = file.sections[2];
  file.sections[3].sh_name = 9;
  file.sections[3].sh_type = SHT_PROGBITS;
  file.sections[4] = file.sections[3];
  file.sections[4].sh_name = 19;
  snprintf(path, sizeof(path), "%s/giant", odd_directory);
  int into = -1;
  map_as_code(path, (char*)&file, sizeof(file), &into);
  ledger_require(ftruncate(into, (off_t)kSize) == 0, "a file can be sparse");
  ledger_require(mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, into, 0) != MAP_FAILED, "it can be mapped");
  remove_odd_file(path);
}

int main(void) {
  make_odd_directory();
  for (int i = 0; i < kTypeCount; i++) map_file(kTypes[i]);
  remove_odd_directory();
  ledger_begin();
  allocate_a_while(100);
  ledger_end();
  return 0;
}
