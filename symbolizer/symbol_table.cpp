#include "symbolizer/symbol_table.h"

#include <algorithm>

#include "userspace/elf/function_collector.h"

namespace hawk {
namespace {

/// Greater is better.
int binding_rank(unsigned char binding) {
  switch (binding) {
    case STB_GLOBAL:
    case STB_GNU_UNIQUE:
      return 2;
    case STB_WEAK:
      return 1;
    default:
      return 0;
  }
}

std::size_t leading_underscores(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

/// Whether `left` is a worse name than `right` for the same bytes.
bool is_worse(const FunctionSymbol& left, const FunctionSymbol& right) {
  const bool left_typed = left.type != STT_NOTYPE;
  const bool right_typed = right.type != STT_NOTYPE;
  if (left_typed != right_typed) return right_typed;
  const int left_rank = binding_rank(left.binding);
  const int right_rank = binding_rank(right.binding);
  if (left_rank != right_rank) return left_rank < right_rank;
  const std::size_t left_underscores = leading_underscores(left.name);
  const std::size_t right_underscores = leading_underscores(right.name);
  if (left_underscores != right_underscores) return left_underscores > right_underscores;
  return left.name > right.name;
}

bool is_before(const FunctionSymbol& left, const FunctionSymbol& right) {
  if (left.address != right.address) return left.address < right.address;
  if (left.size_bytes != right.size_bytes) return left.size_bytes < right.size_bytes;
  return is_worse(left, right);
}

/// Assemblers leave ".L" labels and, on ARM, "$x" marks: no function starts there.
bool is_assembler_mark(std::string_view name, unsigned char type) {
  return name.starts_with(".L") || (type == STT_NOTYPE && name.starts_with('$'));
}

}  // namespace

void SymbolTable::read_image(const ElfFile& image) {
  const std::span<const Elf64_Shdr> headers = image.sections().headers();
  for (const Elf64_Shdr& header : headers) {
    const bool is_code = (header.sh_flags & SHF_ALLOC) != 0 && (header.sh_flags & SHF_EXECINSTR) != 0;
    if (is_code && header.sh_addr + header.sh_size > header.sh_addr) {
      sections_.push_back({header.sh_addr, header.sh_addr + header.sh_size});
    }
  }
  std::sort(sections_.begin(), sections_.end(),
            [](const CodeSection& left, const CodeSection& right) { return left.low < right.low; });
  for (std::size_t number = 0; number < headers.size(); ++number) add_section(image, number);
}

void SymbolTable::add_section(const ElfFile& image, std::size_t number) {
  const Elf64_Shdr& header = image.sections().headers()[number];
  if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) return;
  const std::string_view names = text_of(image.content(header.sh_link));
  for (ByteCursor symbols(image.content(number)); symbols.left() >= sizeof(Elf64_Sym);) {
    add_symbol(symbols.number<Elf64_Sym>(), names, header.sh_type == SHT_SYMTAB);
  }
}

void SymbolTable::add_symbol(const Elf64_Sym& symbol, std::span<const char> names, bool is_symtab) {
  const unsigned char type = ELF64_ST_TYPE(symbol.st_info);
  if (type != STT_FUNC && type != STT_NOTYPE && type != STT_GNU_IFUNC) return;
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || symbol.st_shndx == SHN_COMMON) return;
  if (code_section_of(symbol.st_value) == nullptr) return;
  const std::string_view name = symbol_name(symbol, names);
  if (name.empty() || is_assembler_mark(name, type)) return;
  const auto binding = static_cast<unsigned char>(ELF64_ST_BIND(symbol.st_info));
  symbols_.push_back({symbol.st_value, symbol.st_size, name, type, binding});
  if (is_symtab) ++symtab_count_;
}

const SymbolTable::CodeSection* SymbolTable::code_section_of(std::uint64_t address) const {
  const auto after =
      std::upper_bound(sections_.begin(), sections_.end(), address,
                       [](std::uint64_t value, const CodeSection& section) { return value < section.low; });
  if (after == sections_.begin()) return nullptr;
  const CodeSection& section = *std::prev(after);
  return address < section.high ? &section : nullptr;
}

void SymbolTable::read() {
  if (images_.empty()) return;
  for (const ElfFile* image : images_) read_image(*image);
  images_.clear();
  std::sort(symbols_.begin(), symbols_.end(), is_before);
  symbols_.shrink_to_fit();
  std::vector<std::uint32_t> unsized;
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    const FunctionSymbol& symbol = symbols_[i];
    if (symbol.size_bytes == 0) {
      unsized.push_back(i);
    } else {
      sized_.add(symbol.address, symbol.address + symbol.size_bytes, i);
    }
  }
  sized_.seal();
  index_unsized(unsized);
  unsized_.seal();
}

void SymbolTable::index_unsized(const std::vector<std::uint32_t>& unsized) {
  for (const std::uint32_t i : unsized) {
    const std::uint64_t address = symbols_[i].address;
    if (sized_.find(address)) continue;  // a label inside a function
    const CodeSection* section = code_section_of(address);
    if (section == nullptr) continue;  // the sections of two files contradict each other
    std::uint64_t end = section->high;
    const auto next =
        std::upper_bound(symbols_.begin() + i, symbols_.end(), address,
                         [](std::uint64_t value, const FunctionSymbol& symbol) { return value < symbol.address; });
    if (next != symbols_.end()) end = std::min(end, next->address);
    unsized_.add(address, end, i);
  }
}

const FunctionSymbol* SymbolTable::find(std::uint64_t address) {
  read();
  std::optional<std::uint32_t> index = sized_.find(address);
  if (!index) index = unsized_.find(address);
  return index ? &symbols_[*index] : nullptr;
}

bool SymbolTable::has_symtab_functions() {
  read();
  return symtab_count_ > 0;
}

bool SymbolTable::empty() {
  read();
  return symbols_.empty();
}

}  // namespace hawk
