#pragma once

#include <elf.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/elf/elf_bytes.h"
#include "userspace/elf/function_collector.h"

namespace hawk {

/// The section headers of a file; read only where its segments do not say. Of several sections by a name or of a type
/// the first counts.
class ElfSections {
 public:
  /// Reads the headers that `header` announces; empty when they are not there. `file` must outlive this object, and
  /// stay where it is.
  ElfSections(const ElfBytes& file, const Elf64_Ehdr& header);

  /// By number.
  std::span<const Elf64_Shdr> headers() const { return headers_; }
  /// What this object takes once it has given a name. A damaged file can make it 320 MiB.
  std::uint64_t most_bytes() const;
  /// Those of sane size.
  std::vector<Elf64_Shdr> of_type(Elf64_Word type) const;
  bool has_type(Elf64_Word type) const;
  /// The number of the one with this name that has bytes in the file.
  std::optional<std::size_t> number_of(std::string_view name) const;
  std::optional<Elf64_Shdr> named(std::string_view name) const;
  /// Empty when it does not end within the section of names.
  std::string_view name_of(const Elf64_Shdr& header) const;
  /// The GNU build id, as bytes; empty when no section has one.
  std::string build_id() const;
  /// Calls `visit` with each symbol of the table of `type` and with the strings of that table.
  using VisitNamed = std::function<void(const Elf64_Sym&, std::span<const char>)>;
  void for_each_symbol_of(Elf64_Word type, const VisitNamed& visit) const;
  /// Of all tables: those of a static program are named by its sections alone.
  std::vector<Elf64_Rela> relocations() const;
  /// Goes through the symbol table of `type`.
  void find_functions(Elf64_Word type, FunctionCollector& collector) const;
  /// Whether that table has a function that is defined in the file.
  bool has_function(Elf64_Word type) const;

 private:
  using Visit = std::function<void(const Elf64_Sym&)>;
  void for_each_symbol(const Elf64_Shdr& table, const Visit& visit) const;
  const std::vector<std::uint8_t>& names() const;

  const ElfBytes* file_;
  std::vector<Elf64_Shdr> headers_;
  std::uint64_t names_at_ = 0;  ///< number of the section with their names
  mutable std::optional<std::vector<std::uint8_t>> names_;
};

}  // namespace hawk
