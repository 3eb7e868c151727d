#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "symbolizer/elf_file.h"
#include "symbolizer/interval_index.h"

namespace hawk {

/// A function symbol as the linker knows it.
struct FunctionSymbol {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::string_view name;  ///< mangled, without its version; lives as long as the ELF image
  unsigned char type = 0;
  unsigned char binding = 0;
};

/// The functions of a module by address, from .symtab and .dynsym of one or more files (a module and its debug file).
///
/// A symbol with a size answers for its bytes. One without (hand-written assembly) answers up to the next symbol,
/// within its section. Elsewhere there is no answer: the nearest symbol before would be a guess. Of several names for
/// the same bytes: global before weak before local (glibc's `__GI_` aliases are local), then the one with fewer leading
/// underscores, then the alphabetically first.
class SymbolTable {
 public:
  /// Takes in all function symbols of `image`, which must outlive the table and stay where it is, at the first
  /// question: where debug information answers, none may come.
  void add(const ElfFile& image) { images_.push_back(&image); }
  /// The function around `address`.
  const FunctionSymbol* find(std::uint64_t address);
  /// Whether there is a .symtab (or else only .dynsym) with a function in it.
  bool has_symtab_functions();
  bool empty();

 private:
  struct CodeSection {
    std::uint64_t low;
    std::uint64_t high;
  };
  void read();
  void read_image(const ElfFile& image);
  void add_section(const ElfFile& image, std::size_t number);
  void add_symbol(const Elf64_Sym& symbol, std::span<const char> names, bool is_symtab);
  const CodeSection* code_section_of(std::uint64_t address) const;
  void index_unsized(const std::vector<std::uint32_t>& unsized);

  std::vector<const ElfFile*> images_;  ///< added, but not yet read
  std::vector<CodeSection> sections_;
  std::vector<FunctionSymbol> symbols_;
  std::size_t symtab_count_ = 0;
  IntervalIndex sized_;
  IntervalIndex unsized_;
};

}  // namespace hawk
