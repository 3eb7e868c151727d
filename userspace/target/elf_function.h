#pragma once

#include <cstdint>
#include <string>

namespace hawk {

/// A function symbol that a file defines (undefined symbols never appear).
struct ElfFunction {
  std::string name;              ///< without version
  std::uint64_t vaddr = 0;       ///< ELF virtual address
  std::uint64_t size_bytes = 0;  ///< 0: unknown
};

}  // namespace hawk
