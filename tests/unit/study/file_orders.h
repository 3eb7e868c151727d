#pragma once

#include <sys/types.h>

#include <cstddef>

namespace hawk {

/// Where in a file stands what a misbehaving worker does when it is to read it, as a text that ends with NUL.
inline constexpr off_t kOrderAt = 0x8000;
inline constexpr std::size_t kLongestOrder = 64;

/// Where the file has code.
inline constexpr off_t kCodeAt = 0x2000;
inline constexpr off_t kCodeBytes = 0x1000;

}  // namespace hawk
