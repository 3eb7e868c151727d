#pragma once

#include <elf.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/elf/elf_function.h"
#include "userspace/elf/elf_segments.h"
#include "userspace/elf/name_set.h"

namespace hawk {

/// The name of a symbol, without its version; empty when it does not end within `strings`.
std::string_view symbol_name(const Elf64_Sym& symbol, std::span<const char> strings);

/// The function that the symbol defines; nullopt: it defines none.
std::optional<ElfFunction> defined_function(const Elf64_Sym& symbol, std::string_view name);

/// Picks the wanted function definitions out of symbol tables.
class FunctionCollector {
 public:
  FunctionCollector(const ElfSegments& segments, const NameSet& names)
      : segments_(segments), names_(names), settled_(names.entries().size(), false) {}

  const NameSet& names() const { return names_; }
  /// Takes the symbol if it defines a wanted function. Strings that do not end within `strings` are no names.
  void take(const Elf64_Sym& symbol, std::span<const char> strings);
  /// Names found so far are taken from no further table. Returns whether that leaves none to look for.
  bool settle();
  std::vector<ElfFunction> result() { return std::move(found_); }

 private:
  const ElfSegments& segments_;
  const NameSet& names_;
  std::vector<ElfFunction> found_;
  std::vector<bool> settled_;  ///< by index of the name
};

}  // namespace hawk
