#pragma once

#include <cstdint>

namespace hawk {

/// What the allocator calls of one stack (or of the whole trace) did. All four only grow while tracing.
struct Counters {
  std::uint64_t allocated_bytes = 0;  ///< requested bytes, before the allocator rounds them
  std::uint64_t allocated_count = 0;  ///< blocks
  std::uint64_t freed_bytes = 0;      ///< of blocks allocated by this stack, wherever they were freed
  std::uint64_t freed_count = 0;

  std::uint64_t live_bytes() const { return allocated_bytes - freed_bytes; }
  std::uint64_t live_count() const { return allocated_count - freed_count; }

  Counters& operator+=(const Counters& other) {
    allocated_bytes += other.allocated_bytes;
    allocated_count += other.allocated_count;
    freed_bytes += other.freed_bytes;
    freed_count += other.freed_count;
    return *this;
  }
  /// `earlier`: of the same stacks.
  Counters& operator-=(const Counters& earlier) {
    allocated_bytes -= earlier.allocated_bytes;
    allocated_count -= earlier.allocated_count;
    freed_bytes -= earlier.freed_bytes;
    freed_count -= earlier.freed_count;
    return *this;
  }
  bool operator==(const Counters&) const = default;
};

}  // namespace hawk
