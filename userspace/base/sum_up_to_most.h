#pragma once

#include <cstdint>
#include <limits>

namespace hawk {

/// The sum, or the largest number there is if the sum is larger.
inline std::uint64_t sum_up_to_most(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace hawk
