#pragma once

#include <chrono>
#include <cstdint>

namespace hawk {

/// The time by the system's clock, which may be set: nanoseconds since 1970.
inline std::uint64_t unix_time_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace hawk
