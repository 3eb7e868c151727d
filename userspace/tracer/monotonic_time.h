#pragma once

#include <chrono>
#include <cstdint>

namespace hawk {

/// By CLOCK_MONOTONIC, in nanoseconds: as the programs measure time (bpf_ktime_get_ns).
inline std::uint64_t now_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace hawk
