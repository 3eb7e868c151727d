/* DIRECTORY FILES MEGABYTES: maps so many files as code, each of which is an .eh_frame section of that size, a call
 * frame description for every few bytes of code; then deletes them. */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "ledger.h"

SITE_FUNCTION struct block by_malloc(size_t n) { return ALLOCATED(malloc(n), n); }

enum { kSections = 3, kFdeBytes = 20, kCodeOfFde = 8, kChunkOfFdes = 4096 };

/* What begins each file, at address 0. */
struct head {
  Elf64_Ehdr header;
  Elf64_Phdr code;
  Elf64_Shdr sections[kSections];
  char names[24];
  /* Common to all descriptions. Padded to a multiple of 8. */
  struct __attribute__((packed)) {
    uint32_t length, id;
    uint8_t version, augmentation, code_alignment, data_alignment, return_column, rules[5], pad[6];
  } common;
};

/* 64-bit addresses: without an augmentation pointers are absolute. */
struct __attribute__((packed)) fde {
  uint32_t length, common;
  uint64_t start, size;
  uint8_t advance_and_cfa[4];
};

_Static_assert(sizeof(struct head) == offsetof(struct head, common) + sizeof(((struct head*)0)->common),
               "no padding behind it");

static void fill_head(struct head* head, uint64_t table_bytes) {
  memset(head, 0, sizeof(*head));
  memcpy(head->header.e_ident, ELFMAG "\2\1\1", 7);
  head->header.e_type = ET_DYN;
  head->header.e_machine = EM_X86_64;
  head->header.e_version = 1;
  head->header.e_ehsize = sizeof(Elf64_Ehdr);
  head->header.e_phoff = offsetof(struct head, code);
  head->header.e_phentsize = sizeof(Elf64_Phdr);
  head->header.e_phnum = 1;
  head->header.e_shoff = offsetof(struct head, sections);
  head->header.e_shentsize = sizeof(Elf64_Shdr);
  head->header.e_shnum = kSections;
  head->header.e_shstrndx = 1;
  const uint64_t size = offsetof(struct head, common) + table_bytes;
  head->code =
      (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size, .p_memsz = size, .p_align = 4096};
  memcpy(head->names, "\0.eh_frame\0.shstrtab", 21);
  head->sections[1] =
      (Elf64_Shdr){.sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct head, names), .sh_size = 24};
  head->sections[2] = (Elf64_Shdr){.sh_name = 1,
                                   .sh_type = SHT_PROGBITS,
                                   .sh_flags = SHF_ALLOC,
                                   .sh_addr = offsetof(struct head, common),
                                   .sh_offset = offsetof(struct head, common),
                                   .sh_size = table_bytes,
                                   .sh_addralign = 8};
  head->common.length = sizeof(head->common) - 4;
  head->common.version = 1;
  head->common.code_alignment = 1;
  head->common.data_alignment = 0x78; /* -8 */
  head->common.return_column = 16;
  /* DW_CFA_def_cfa: rsp + 8. DW_CFA_offset: the return address is 8 bytes below. */
  memcpy(head->common.rules, "\x0c\7\x08\x90\1", 5);
}

static void write_all(int file, const void* bytes, size_t length) {
  ledger_require(write(file, bytes, length) == (ssize_t)length, "a file can be written");
}

static void write_table(int file, uint64_t fdes) {
  static struct fde chunk[kChunkOfFdes];
  for (uint64_t done = 0; done < fdes; done += kChunkOfFdes) {
    for (uint64_t i = 0; i < kChunkOfFdes; i++) {
      const uint64_t number = done + i;
      const uint64_t at = sizeof(((struct head*)0)->common) + number * sizeof(struct fde);
      /* Another rule in each half, so that no rows can be joined: DW_CFA_advance_loc 4, DW_CFA_def_cfa_offset. */
      chunk[i] = (struct fde){sizeof(struct fde) - 4,
                              (uint32_t)(at + 4),
                              number * kCodeOfFde,
                              kCodeOfFde,
                              {0x44, 0x0e, (uint8_t)(16 + 8 * (number % 2)), 0}};
    }
    write_all(file, chunk, sizeof(chunk));
  }
}

static void map_file(const char* directory, int number, uint64_t bytes) {
  char path[512];
  struct head head;
  const uint64_t fdes = bytes / sizeof(struct fde) / kChunkOfFdes * kChunkOfFdes;
  snprintf(path, sizeof(path), "%s/flood%d.so", directory, number);
  fill_head(&head, sizeof(head.common) + fdes * sizeof(struct fde));
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
  ledger_require(file >= 0, "a file can be made");
  write_all(file, &head, sizeof(head));
  write_table(file, fdes);
  ledger_require(mmap(NULL, 1 << 20, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) != MAP_FAILED, "it can be mapped");
  ledger_require(unlink(path) == 0 && close(file) == 0, "it can be deleted");
}

int main(int argc, char** argv) {
  ledger_require(argc == 4 && strlen(argv[1]) < 400, "three arguments, a short path");
  for (int i = 0; i < atoi(argv[2]); i++) map_file(argv[1], i, (uint64_t)atoi(argv[3]) << 20);
  ledger_begin();
  for (size_t i = 1; i <= 100; i++) {
    struct block block = by_malloc(i);
    if (i % 3) release(block);
  }
  ledger_end();
  return 0;
}
