#include "userspace/elf/elf_sections.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>

#include "userspace/elf/byte_view.h"

namespace hawk {
namespace {

/// A table above this is none.
constexpr std::uint64_t kMaxSectionBytes = 1u << 30;
constexpr std::uint64_t kMaxSections = 1u << 20;
constexpr std::size_t kSymbolsAtOnce = 1024;

}  // namespace

ElfSections::ElfSections(const ElfSegments& segments, const Elf64_Ehdr& header) : segments_(segments) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::uint64_t count = header.e_shnum;
  Elf64_Shdr first = {};
  // Numbers that do not fit stand in the first section (System V gABI, e_shnum, e_shstrndx).
  const bool has_first = segments.read_file(header.e_shoff, bytes_of(std::span(&first, 1))) == sizeof(first);
  if (count == 0 && has_first) count = first.sh_size;
  names_at_ = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
  headers_.resize(std::min({count, kMaxSections, segments.file_bytes() / sizeof(Elf64_Shdr)}));
  headers_.resize(segments.read_file(header.e_shoff, bytes_of(std::span(headers_))) / sizeof(Elf64_Shdr));
}

std::vector<Elf64_Shdr> ElfSections::of_type(Elf64_Word type) const {
  std::vector<Elf64_Shdr> found;
  for (const Elf64_Shdr& header : headers_) {
    if (header.sh_type == type && header.sh_size <= kMaxSectionBytes) found.push_back(header);
  }
  return found;
}

std::optional<Elf64_Shdr> ElfSections::named(std::string_view name) const {
  if (names_at_ >= headers_.size() || headers_[names_at_].sh_size > kMaxSectionBytes) return std::nullopt;
  const Elf64_Shdr& section = headers_[names_at_];
  const std::vector<std::uint8_t> names = segments_.read_file(section.sh_offset, section.sh_size);
  for (const Elf64_Shdr& header : headers_) {
    // With the NUL behind it.
    if (header.sh_type == SHT_NOBITS || header.sh_name >= names.size() ||
        names.size() - header.sh_name <= name.size()) {
      continue;
    }
    const std::uint8_t* text = names.data() + header.sh_name;
    if (std::memcmp(text, name.data(), name.size()) == 0 && text[name.size()] == 0) return header;
  }
  return std::nullopt;
}

void ElfSections::for_each_symbol(const Elf64_Shdr& table, const Visit& visit) const {
  std::array<Elf64_Sym, kSymbolsAtOnce> symbols;
  std::uint64_t left = table.sh_size / sizeof(Elf64_Sym);
  for (std::uint64_t offset = table.sh_offset; left > 0;) {
    const std::span<Elf64_Sym> piece = std::span(symbols).first(std::min<std::uint64_t>(left, kSymbolsAtOnce));
    const std::size_t got = segments_.read_file(offset, bytes_of(piece)) / sizeof(Elf64_Sym);
    for (const Elf64_Sym& symbol : piece.first(got)) visit(symbol);
    if (got < piece.size()) return;
    left -= got;
    offset += got * sizeof(Elf64_Sym);
  }
}

void ElfSections::for_each_symbol_of(Elf64_Word type, const VisitNamed& visit) const {
  const std::vector<Elf64_Shdr> tables = of_type(type);
  if (tables.empty() || tables[0].sh_link >= headers_.size()) return;
  const Elf64_Shdr& section = headers_[tables[0].sh_link];
  const std::uint64_t size = std::min(section.sh_size, segments_.file_bytes());
  if (size > kMaxSectionBytes) return;
  // Not a vector, which would be filled with zeros first.
  const auto strings = std::make_unique_for_overwrite<char[]>(size);
  const std::size_t got = segments_.read_file(section.sh_offset, bytes_of(std::span(strings.get(), size)));
  const std::span<const char> text(strings.get(), got);
  for_each_symbol(tables[0], [&](const Elf64_Sym& symbol) { visit(symbol, text); });
}

void ElfSections::find_functions(Elf64_Word type, FunctionCollector& collector) const {
  for_each_symbol_of(type,
                     [&](const Elf64_Sym& symbol, std::span<const char> strings) { collector.take(symbol, strings); });
}

bool ElfSections::has_function(Elf64_Word type) const {
  const std::vector<Elf64_Shdr> tables = of_type(type);
  bool found = false;
  if (tables.empty()) return false;
  for_each_symbol(tables[0], [&](const Elf64_Sym& symbol) {
    found = found || (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF);
  });
  return found;
}

}  // namespace hawk
