#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hawk {

/// The memory of plain values, to be read into.
template <class T, std::size_t N>
std::span<std::uint8_t> bytes_of(std::span<T, N> values) {
  return {reinterpret_cast<std::uint8_t*>(values.data()), values.size_bytes()};
}

}  // namespace hawk
