#pragma once

#include <cstdint>
#include <string>

namespace hawk {

/// A function symbol that a file defines (undefined symbols never appear).
struct ElfFunction {
  std::string name;              ///< without version
  std::uint64_t vaddr = 0;       ///< ELF virtual address
  std::uint64_t size_bytes = 0;  ///< 0: unknown
  /// What stands there does not do what the name says: it returns the address of the code that does (STT_GNU_IFUNC).
  bool is_resolver = false;
};

}  // namespace hawk
