#include "userspace/elf/elf_header.h"

#include <algorithm>
#include <cstring>

namespace hawk {
namespace {

bool is_elf_of_class(Bytes head, unsigned char wanted) {
  return head.size() >= EI_NIDENT && std::memcmp(head.data(), ELFMAG, SELFMAG) == 0 && head[EI_CLASS] == wanted;
}

}  // namespace

std::optional<Elf64_Ehdr> elf_header_in(Bytes head) {
  if (!is_64_bit_elf(head) || head[EI_DATA] != ELFDATA2LSB) return std::nullopt;
  return ByteCursor(head).number<Elf64_Ehdr>();
}

bool is_32_bit_elf(Bytes head) { return is_elf_of_class(head, ELFCLASS32); }

bool is_64_bit_elf(Bytes head) { return head.size() >= sizeof(Elf64_Ehdr) && is_elf_of_class(head, ELFCLASS64); }

std::uint64_t program_headers_bytes(const Elf64_Ehdr& header) {
  return header.e_phentsize == sizeof(Elf64_Phdr) ? header.e_phnum * sizeof(Elf64_Phdr) : 0;
}

std::vector<Elf64_Phdr> program_headers_in(Bytes bytes) {
  std::vector<Elf64_Phdr> headers(bytes.size() / sizeof(Elf64_Phdr));
  ByteCursor cursor(bytes);
  for (Elf64_Phdr& header : headers) header = cursor.number<Elf64_Phdr>();
  return headers;
}

std::string build_id_in(Bytes notes, std::uint64_t alignment) {
  const std::uint64_t mask = alignment == 8 ? 7 : 3;
  // From the beginning of a note, as all sizes are.
  const auto padding = [&](const ByteCursor& from, const ByteCursor& to) {
    return (0 - static_cast<std::uint64_t>(to.next() - from.next())) & mask;
  };
  for (ByteCursor cursor(notes); !cursor.at_end();) {
    const ByteCursor start = cursor;
    const auto note = cursor.number<Elf64_Nhdr>();
    const Bytes name = cursor.take(note.n_namesz);
    cursor.skip(padding(start, cursor));
    const Bytes content = cursor.take(note.n_descsz);
    if (!cursor.ok()) return {};
    const bool is_gnu = name.size() == sizeof("GNU") && std::memcmp(name.data(), "GNU", sizeof("GNU")) == 0;
    if (is_gnu && note.n_type == NT_GNU_BUILD_ID) return std::string(text_of(content));
    cursor.skip(std::min(padding(start, cursor), cursor.left()));
  }
  return {};
}

}  // namespace hawk
