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

bool large_enough(const Counters& counters, const Selection& selection) {
  const bool by_live = selection.sort == SortKey::kLive || selection.sort == SortKey::kLiveCount;
  return (by_live ? counters.live_bytes() : counters.allocated_bytes) >= selection.min_size_bytes;
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

std::vector<const StackRecord*> select_stacks(const Snapshot& snapshot, const Selection& selection) {
  std::vector<const StackRecord*> selected;
  selected.reserve(snapshot.stacks.size());
  for (const StackRecord& stack : snapshot.stacks) {
    if (large_enough(stack.counters, selection)) selected.push_back(&stack);
  }
  std::sort(selected.begin(), selected.end(), [&](const StackRecord* a, const StackRecord* b) {
    const std::uint64_t value_a = sort_value(a->counters, selection.sort);
    const std::uint64_t value_b = sort_value(b->counters, selection.sort);
    return value_a != value_b ? value_a > value_b : a->id < b->id;
  });
  if (selection.top != 0 && selected.size() > selection.top) selected.resize(selection.top);
  return selected;
}

}  // namespace hawk
