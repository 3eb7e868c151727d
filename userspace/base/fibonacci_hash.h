#pragma once

#include <cstdint>

namespace hawk {

/// 2^64 / golden ratio. Odd, so that to multiply by it loses nothing.
inline constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;

/// The `bits` highest bits of `value` times 2^64 / golden ratio: numbers that are near each other come out far apart,
/// so that they fill a table evenly (Fibonacci hashing).
constexpr std::uint64_t fibonacci_hash(std::uint64_t value, unsigned bits) {
  return value * kGoldenRatio >> (64 - bits);
}

}  // namespace hawk
