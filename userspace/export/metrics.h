#pragma once

#include <array>
#include <cstddef>

#include "userspace/tables/selection.h"

namespace hawk {

/// What formats that hold several numbers of a stack have of it, each with its unit. Where a reader shows one of them
/// first, it is that which the report is sorted by.
struct Metric {
  SortKey key;
  bool is_bytes;  ///< or blocks
};

inline constexpr std::array<Metric, 5> kMetrics = {{{SortKey::kLive, true},
                                                    {SortKey::kLiveCount, false},
                                                    {SortKey::kAllocated, true},
                                                    {SortKey::kAllocatedCount, false},
                                                    {SortKey::kFreedCount, false}}};

/// The index of the metric that is `key`.
constexpr std::size_t metric_index(SortKey key) { return static_cast<std::size_t>(key); }

static_assert([] {
  for (std::size_t i = 0; i < kMetrics.size(); ++i) {
    if (metric_index(kMetrics[i].key) != i) return false;
  }
  return true;
}());

}  // namespace hawk
