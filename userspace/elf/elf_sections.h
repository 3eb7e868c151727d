#pragma once

#include <elf.h>

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "userspace/elf/elf_segments.h"
#include "userspace/elf/function_collector.h"

namespace hawk {

/// The section headers of a file; read only where its segments do not tell.
class ElfSections {
 public:
  /// Reads the headers that `header` announces; empty when they are not there.
  ElfSections(const ElfSegments& segments, const Elf64_Ehdr& header);

  /// Those of sane size.
  std::vector<Elf64_Shdr> of_type(Elf64_Word type) const;
  /// The first with this name that has bytes in the file.
  std::optional<Elf64_Shdr> named(std::string_view name) const;
  /// Calls `visit` with each symbol of the first table of `type` and with the strings of that table.
  using VisitNamed = std::function<void(const Elf64_Sym&, std::span<const char>)>;
  void for_each_symbol_of(Elf64_Word type, const VisitNamed& visit) const;
  /// Goes through the first symbol table of `type`.
  void find_functions(Elf64_Word type, FunctionCollector& collector) const;
  /// Whether that table has a function that is defined in the file.
  bool has_function(Elf64_Word type) const;

 private:
  using Visit = std::function<void(const Elf64_Sym&)>;
  void for_each_symbol(const Elf64_Shdr& table, const Visit& visit) const;

  const ElfSegments& segments_;
  std::vector<Elf64_Shdr> headers_;
  std::uint64_t names_at_ = 0;  ///< index of the section with their names
};

}  // namespace hawk
