#include "userspace/elf/elf_sections.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "userspace/elf/byte_view.h"
#include "userspace/elf/elf_header.h"

namespace hawk {
namespace {

/// A table above this is none.
constexpr std::uint64_t kMaxSectionBytes = 1u << 30;
constexpr std::uint64_t kMaxSections = 1u << 20;
constexpr std::size_t kSymbolsAtOnce = 1024;

}  // namespace

ElfSections::ElfSections(const ElfBytes& file, const Elf64_Ehdr& header) : file_(&file) {
  if (header.e_shoff == 0 || header.e_shentsize != sizeof(Elf64_Shdr)) return;
  std::uint64_t count = header.e_shnum;
  names_at_ = header.e_shstrndx;
  // Numbers that do not fit stand in the first section (System V gABI, e_shnum, e_shstrndx).
  if (count == 0 || names_at_ == SHN_XINDEX) {
    Elf64_Shdr first = {};
    const bool has_first = file.read(header.e_shoff, bytes_of(std::span(&first, 1))) == sizeof(first);
    if (count == 0 && has_first) count = first.sh_size;
    if (names_at_ == SHN_XINDEX) names_at_ = first.sh_link;
  }
  headers_.resize(std::min({count, kMaxSections, file.size_bytes() / sizeof(Elf64_Shdr)}));
  headers_.resize(file.read(header.e_shoff, bytes_of(std::span(headers_))) / sizeof(Elf64_Shdr));
}

std::uint64_t ElfSections::most_bytes() const {
  const std::uint64_t names = names_at_ < headers_.size() ? headers_[names_at_].sh_size : 0;
  return headers_.size() * sizeof(Elf64_Shdr) + std::min(names, file_->size_bytes());
}

std::vector<Elf64_Shdr> ElfSections::of_type(Elf64_Word type) const {
  std::vector<Elf64_Shdr> found;
  for (const Elf64_Shdr& header : headers_) {
    if (header.sh_type == type && header.sh_size <= kMaxSectionBytes) found.push_back(header);
  }
  return found;
}

bool ElfSections::has_type(Elf64_Word type) const {
  return std::any_of(headers_.begin(), headers_.end(),
                     [&](const Elf64_Shdr& header) { return header.sh_type == type; });
}

const std::vector<std::uint8_t>& ElfSections::names() const {
  if (names_) return *names_;
  names_.emplace();
  if (names_at_ >= headers_.size() || headers_[names_at_].sh_size > kMaxSectionBytes) return *names_;
  *names_ = file_->read(headers_[names_at_].sh_offset, headers_[names_at_].sh_size);
  return *names_;
}

std::string_view ElfSections::name_of(const Elf64_Shdr& header) const {
  return ByteCursor(part_of(names(), header.sh_name)).text();
}

std::optional<std::size_t> ElfSections::number_of(std::string_view name) const {
  for (std::size_t number = 0; number < headers_.size(); ++number) {
    const Elf64_Shdr& header = headers_[number];
    if (header.sh_type != SHT_NOBITS && header.sh_name < names().size() && name_of(header) == name) return number;
  }
  return std::nullopt;
}

std::optional<Elf64_Shdr> ElfSections::named(std::string_view name) const {
  const std::optional<std::size_t> number = number_of(name);
  return number ? std::optional(headers_[*number]) : std::nullopt;
}

std::string ElfSections::build_id() const {
  for (const Elf64_Shdr& section : of_type(SHT_NOTE)) {
    if (section.sh_size > kMaxNoteBytes) continue;
    std::string id = build_id_in(file_->read(section.sh_offset, section.sh_size), section.sh_addralign);
    if (!id.empty()) return id;
  }
  return {};
}

void ElfSections::for_each_symbol(const Elf64_Shdr& table, const Visit& visit) const {
  std::array<Elf64_Sym, kSymbolsAtOnce> symbols;
  std::uint64_t left = table.sh_size / sizeof(Elf64_Sym);
  for (std::uint64_t offset = table.sh_offset; left > 0;) {
    const std::span<Elf64_Sym> piece = std::span(symbols).first(std::min<std::uint64_t>(left, kSymbolsAtOnce));
    const std::size_t got = file_->read(offset, bytes_of(piece)) / sizeof(Elf64_Sym);
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
  const std::uint64_t size = std::min(section.sh_size, file_->size_bytes());
  if (size > kMaxSectionBytes) return;
  // Not a vector, which would be filled with zeros first.
  const auto strings = std::make_unique_for_overwrite<char[]>(size);
  const std::size_t got = file_->read(section.sh_offset, bytes_of(std::span(strings.get(), size)));
  const std::span<const char> text(strings.get(), got);
  for_each_symbol(tables[0], [&](const Elf64_Sym& symbol) { visit(symbol, text); });
}

std::vector<Elf64_Rela> ElfSections::relocations() const {
  std::vector<Elf64_Rela> all;
  for (const Elf64_Shdr& table : of_type(SHT_RELA)) {
    const std::size_t before = all.size();
    all.resize(before + std::min(table.sh_size, file_->size_bytes()) / sizeof(Elf64_Rela));
    const std::size_t got = file_->read(table.sh_offset, bytes_of(std::span(all).subspan(before)));
    all.resize(before + got / sizeof(Elf64_Rela));
  }
  return all;
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
