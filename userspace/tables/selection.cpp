#include "userspace/tables/selection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "userspace/base/check.h"

namespace hawk {
namespace {

constexpr std::array<std::pair<SortKey, std::string_view>, 5> kSortKeys = {{
    {SortKey::kLive, "live"},
    {SortKey::kLiveCount, "live-count"},
    {SortKey::kAllocated, "allocated"},
    {SortKey::kAllocatedCount, "allocated-count"},
    {SortKey::kFreedCount, "freed-count"},
}};

bool comes_first(const ValuedStack& a, const ValuedStack& b) {
  return a.value != b.value ? a.value > b.value : a.stack->id < b.stack->id;
}

}  // namespace

std::optional<SortKey> parse_sort_key(std::string_view text) {
  for (const auto& [key, name] : kSortKeys) {
    if (name == text) return key;
  }
  return std::nullopt;
}

std::string_view sort_key_name(SortKey key) {
  for (const auto& [candidate, name] : kSortKeys) {
    if (candidate == key) return name;
  }
  HAWK_CHECK(false, "a sort key without a name");
}

std::uint64_t sort_value(const Counters& counters, SortKey key) {
  switch (key) {
    case SortKey::kLive:
      return counters.live_bytes();
    case SortKey::kLiveCount:
      return counters.live_count();
    case SortKey::kAllocated:
      return counters.allocated_bytes;
    case SortKey::kAllocatedCount:
      return counters.allocated_count;
    case SortKey::kFreedCount:
      return counters.freed_count;
  }
  HAWK_CHECK(false, "a sort key without a value");
}

bool is_large_enough(const Counters& counters, const Selection& selection) {
  const bool by_live = selection.sort == SortKey::kLive || selection.sort == SortKey::kLiveCount;
  return (by_live ? counters.live_bytes() : counters.allocated_bytes) >= selection.min_size_bytes;
}

std::vector<const StackRecord*> matching_stacks(const Snapshot& snapshot, const Selection& selection) {
  std::vector<const StackRecord*> matching;
  matching.reserve(snapshot.stacks.size());
  for (const StackRecord& stack : snapshot.stacks) {
    if (is_large_enough(stack.counters, selection)) matching.push_back(&stack);
  }
  return matching;
}

void keep_top(std::vector<const StackRecord*>& stacks, SortKey sort, std::size_t top) {
  keep_top(
      stacks, [sort](const StackRecord& stack) { return sort_value(stack.counters, sort); }, top);
}

void LeadingStacks::cut() {
  const auto last = stacks_.begin() + static_cast<std::ptrdiff_t>(top_ - 1);
  std::nth_element(stacks_.begin(), last, stacks_.end(), comes_first);
  least_ = last->value;
  stacks_.resize(top_);
}

void keep_top(std::vector<ValuedStack> valued, std::vector<const StackRecord*>& stacks, std::size_t top) {
  const std::size_t kept = top == 0 ? valued.size() : std::min(top, valued.size());
  const auto end = valued.begin() + static_cast<std::ptrdiff_t>(kept);
  if (kept < valued.size()) std::nth_element(valued.begin(), end, valued.end(), comes_first);
  std::sort(valued.begin(), end, comes_first);
  stacks.resize(kept);
  for (std::size_t index = 0; index < kept; ++index) stacks[index] = valued[index].stack;
}

std::vector<const StackRecord*> select_stacks(std::vector<const StackRecord*> stacks, const Selection& selection) {
  std::erase_if(stacks, [&](const StackRecord* stack) { return !is_large_enough(stack->counters, selection); });
  keep_top(stacks, selection.sort, selection.top);
  return stacks;
}

std::vector<const StackRecord*> select_stacks(const Snapshot& snapshot, const Selection& selection) {
  std::vector<const StackRecord*> selected = matching_stacks(snapshot, selection);
  keep_top(selected, selection.sort, selection.top);
  return selected;
}

}  // namespace hawk
