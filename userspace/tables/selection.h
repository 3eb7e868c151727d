#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
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
/// A stack and the number by which it is sorted: to fetch that at every comparison takes several times as long.
struct ValuedStack {
  std::uint64_t value = 0;
  const StackRecord* stack = nullptr;
};
/// Of stacks that come one by one, those that keep_top would keep. Nearly all of many are seen at once to be none of
/// them.
class LeadingStacks {
 public:
  /// `top`: 0: all.
  explicit LeadingStacks(std::size_t top) : top_(top) {}

  void add(const ValuedStack& stack) {
    ++added_;
    if (stack.value < least_) return;
    stacks_.push_back(stack);
    if (top_ != 0 && stacks_.size() >= 2 * top_ + kRoom) cut();
  }
  /// How many have been added.
  std::size_t added() const { return added_; }
  /// All that were added if that is no more than `top`; otherwise those, and perhaps others. In no order.
  std::vector<ValuedStack> take() { return std::move(stacks_); }

 private:
  static constexpr std::size_t kRoom = 64;
  void cut();

  std::size_t top_;
  std::size_t added_ = 0;
  std::uint64_t least_ = 0;  ///< what is less is no longer among them
  std::vector<ValuedStack> stacks_;
};

/// The same of `valued`, into `stacks`.
void keep_top(std::vector<ValuedStack> valued, std::vector<const StackRecord*>& stacks, std::size_t top);
/// The same by any number that stacks have.
template <class Value>
void keep_top(std::vector<const StackRecord*>& stacks, const Value& value, std::size_t top) {
  std::vector<ValuedStack> valued;
  valued.reserve(stacks.size());
  for (const StackRecord* const stack : stacks) valued.push_back({.value = value(*stack), .stack = stack});
  keep_top(std::move(valued), stacks, top);
}

/// Removes from `stacks` those that are not large enough, then keep_top.
std::vector<const StackRecord*> select_stacks(std::vector<const StackRecord*> stacks, const Selection& selection);
/// The same of all stacks of `snapshot`.
std::vector<const StackRecord*> select_stacks(const Snapshot& snapshot, const Selection& selection);

}  // namespace hawk
