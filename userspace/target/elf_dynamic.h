#pragma once

#include <elf.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/target/elf_segments.h"

namespace hawk {

/// A symbol table with its strings, as read from the file.
struct SymbolTable {
  std::vector<Elf64_Sym> symbols;
  std::vector<char> strings;

  /// nullopt when the name lies outside the strings or does not end within them.
  std::optional<std::string_view> name_of(const Elf64_Sym& symbol) const;
};

/// What PT_DYNAMIC says, found by segments alone as the dynamic linker does, so that files without section headers
/// work.
class ElfDynamic {
 public:
  /// `table` is PT_DYNAMIC's content; `segments` must outlive this object.
  ElfDynamic(const ElfSegments& segments, const std::vector<std::uint8_t>& table);

  /// Every symbol that DT_GNU_HASH or DT_HASH accounts for; that is every defined one.
  SymbolTable symbols() const;
  /// Name of the symbol by vaddr of its GOT slot, from JUMP_SLOT and GLOB_DAT relocations.
  std::map<std::uint64_t, std::string> got_symbols() const;
  /// See ElfImage::is_library.
  bool has_soname() const;
  /// See ElfImage::init_vaddr.
  std::optional<std::uint64_t> init_vaddr() const;

 private:
  std::uint64_t value_of(Elf64_Sxword tag) const;
  std::uint64_t symbol_count() const;
  std::uint64_t gnu_hash_symbol_count(std::uint64_t hash_vaddr) const;
  SymbolTable read_symbols(std::uint64_t count) const;
  std::vector<Elf64_Rela> relocations() const;

  const ElfSegments& segments_;
  std::map<Elf64_Sxword, std::uint64_t> entries_;
};

}  // namespace hawk
