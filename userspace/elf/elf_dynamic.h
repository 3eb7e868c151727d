#pragma once

#include <elf.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "userspace/elf/elf_segments.h"
#include "userspace/elf/function_collector.h"

namespace hawk {

/// What PT_DYNAMIC says, found by segments alone as the dynamic linker does, so that files without section headers
/// work.
class ElfDynamic {
 public:
  /// `table` is PT_DYNAMIC's content; `segments` must outlive this object.
  ElfDynamic(const ElfSegments& segments, std::span<const std::uint8_t> table);

  /// Collects the functions that the dynamic linker would find here: by DT_GNU_HASH as it looks them up, else, with
  /// DT_HASH, by going through the symbol table. False: there is neither.
  bool find_functions(FunctionCollector& collector) const;
  /// Calls `visit` with every symbol that other files can see, and with the strings that its name stands in.
  void for_each_symbol(const std::function<void(const Elf64_Sym&, std::span<const char>)>& visit) const;
  /// Name of the symbol by vaddr of its GOT slot, from JUMP_SLOT and GLOB_DAT relocations.
  std::map<std::uint64_t, std::string> got_symbols() const;
  /// All of them.
  std::vector<Elf64_Rela> relocations() const;
  /// See ElfImage::is_library.
  bool has_soname() const;
  /// See ElfImage::init_vaddr.
  std::optional<std::uint64_t> init_vaddr() const;

 private:
  std::optional<std::uint64_t> entry(Elf64_Sxword tag) const;
  std::uint64_t value_of(Elf64_Sxword tag) const { return entry(tag).value_or(0); }
  bool find_by_gnu_hash(FunctionCollector& collector) const;
  bool find_by_table(FunctionCollector& collector) const;
  std::uint64_t symbol_count() const;
  void take_symbol(std::uint64_t index, std::size_t name_bytes, FunctionCollector& collector) const;
  std::vector<char> read_strings() const;

  const ElfSegments& segments_;
  std::vector<std::pair<Elf64_Sxword, std::uint64_t>> entries_;  ///< as in the file, up to DT_NULL
};

}  // namespace hawk
