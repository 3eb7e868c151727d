#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// What stacks are ordered by, descending (--sort).
enum class SortKey { kLive, kLiveCount, kAllocated, kAllocatedCount, kFreedCount };

/// "live", "live-count", "allocated", "allocated-count", "freed-count"; nullopt for any other text.
std::optional<SortKey> parse_sort_key(std::string_view text);
std::string_view sort_key_name(SortKey key);
/// The value that `key` orders by.
std::uint64_t sort_value(const Counters& counters, SortKey key);

/// Which stacks a report shows.
struct Selection {
  SortKey sort = SortKey::kLive;
  std::size_t top = 10;  ///< 0: all
  std::uint64_t min_size_bytes =
      0;  ///< stacks whose live bytes (allocated bytes, when sorted by those) are below are left out
};

/// Whether a report shows a stack of these counters, unless there are too many; `top` does not matter.
bool is_large_enough(const Counters& counters, const Selection& selection);
/// Pointers into `snapshot.stacks`: those that are large enough, in the snapshot's order.
std::vector<const StackRecord*> matching_stacks(const Snapshot& snapshot, const Selection& selection);

/// Sorts `stacks` (ties by id, so that output is reproducible) and cuts them to the first `top`; 0: all. The fewer are
/// kept, the less is sorted.
void keep_top(std::vector<const StackRecord*>& stacks, SortKey sort, std::size_t top);
/// The same by any number that stacks have.
void keep_top(std::vector<const StackRecord*>& stacks, const std::function<std::uint64_t(const StackRecord&)>& value,
              std::size_t top);

/// Removes from `stacks` those that are not large enough, then keep_top.
std::vector<const StackRecord*> select_stacks(std::vector<const StackRecord*> stacks, const Selection& selection);
/// The same of all stacks of `snapshot`.
std::vector<const StackRecord*> select_stacks(const Snapshot& snapshot, const Selection& selection);

}  // namespace hawk
