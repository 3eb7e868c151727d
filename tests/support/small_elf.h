#pragma once

#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

#include "tests/support/elf_header.h"
#include "userspace/base/check.h"
#include "userspace/base/unique_fd.h"

namespace hawk::testing {

inline constexpr std::uint64_t kSmallElfBytes = 64 << 11;

inline Elf64_Phdr code_segment(std::uint64_t file_offset, std::uint64_t vaddr, std::uint64_t bytes) {
  Elf64_Phdr segment = {};
  segment.p_type = PT_LOAD;
  segment.p_flags = PF_R | PF_X;
  segment.p_offset = file_offset;
  segment.p_vaddr = vaddr;
  segment.p_filesz = segment.p_memsz = bytes;
  return segment;
}

/// An ELF file of 128 KiB in memory, with these segments, and zeros otherwise.
inline UniqueFd small_elf(const std::vector<Elf64_Phdr>& segments) {
  UniqueFd fd(::memfd_create("hawktrace-test", MFD_CLOEXEC));
  Elf64_Ehdr header = elf_header(ET_DYN);
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments.size());
  const auto bytes = static_cast<ssize_t>(segments.size() * sizeof(Elf64_Phdr));
  const bool is_written = ::ftruncate(fd.get(), kSmallElfBytes) == 0 &&
                          ::pwrite(fd.get(), &header, sizeof(header), 0) == static_cast<ssize_t>(sizeof(header)) &&
                          ::pwrite(fd.get(), segments.data(), static_cast<std::size_t>(bytes), sizeof(header)) == bytes;
  HAWK_CHECK(is_written, "a file in memory");
  return fd;
}

}  // namespace hawk::testing
