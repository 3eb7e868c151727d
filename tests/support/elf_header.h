#pragma once

#include <elf.h>

#include <cstring>

namespace hawk::testing {

/// The header of an ELF file for x86-64, without tables.
inline Elf64_Ehdr elf_header(Elf64_Half type) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  return header;
}

}  // namespace hawk::testing
