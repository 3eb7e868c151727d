#pragma once

#include <cstdint>

namespace hawk {

/// From the first address to one past the last.
struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

}  // namespace hawk
