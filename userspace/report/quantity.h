#pragma once

#include <cstdint>
#include <string_view>

#include "userspace/tables/selection.h"

namespace hawk {

/// Which of a stack's three pairs of bytes and blocks a sort key is about.
enum class Quantity { kLive, kAllocated, kFreed };

inline Quantity quantity_of(SortKey key) {
  switch (key) {
    case SortKey::kLive:
    case SortKey::kLiveCount:
      return Quantity::kLive;
    case SortKey::kAllocated:
    case SortKey::kAllocatedCount:
      return Quantity::kAllocated;
    case SortKey::kFreedCount:
      break;
  }
  return Quantity::kFreed;
}

/// "live", "allocated", "freed".
inline std::string_view quantity_name(Quantity quantity) {
  return quantity == Quantity::kLive ? "live" : quantity == Quantity::kAllocated ? "allocated" : "freed";
}

inline std::uint64_t bytes_of(const Counters& counters, Quantity quantity) {
  return quantity == Quantity::kLive        ? counters.live_bytes()
         : quantity == Quantity::kAllocated ? counters.allocated_bytes
                                            : counters.freed_bytes;
}

inline std::uint64_t blocks_of(const Counters& counters, Quantity quantity) {
  return quantity == Quantity::kLive        ? counters.live_count()
         : quantity == Quantity::kAllocated ? counters.allocated_count
                                            : counters.freed_count;
}

/// The displayed name of the value that `key` orders by: "live bytes", "allocated blocks".
inline std::string_view sort_key_words(SortKey key) {
  switch (key) {
    case SortKey::kLive:
      return "live bytes";
    case SortKey::kLiveCount:
      return "live blocks";
    case SortKey::kAllocated:
      return "allocated bytes";
    case SortKey::kAllocatedCount:
      return "allocated blocks";
    case SortKey::kFreedCount:
      break;
  }
  return "freed blocks";
}

}  // namespace hawk
