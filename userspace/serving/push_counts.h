#pragma once

#include <cstdint>

namespace hawk {

/// What has become of profiles that are sent; monotonic.
struct PushCounts {
  std::uint64_t sent = 0;
  std::uint64_t failed = 0;
};

}  // namespace hawk
