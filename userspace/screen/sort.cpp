#include "userspace/screen/sort.h"

#include <algorithm>

namespace hawk {
namespace {

std::size_t index_of(ScreenSort sort) { return static_cast<std::size_t>(sort); }

/// Signed differences in the order of unsigned numbers.
std::uint64_t ordered_difference(std::uint64_t before, std::uint64_t now) {
  constexpr std::uint64_t kZero = std::uint64_t{1} << 63;
  if (now >= before) return kZero + std::min(now - before, kZero - 1);
  return kZero - std::min(before - now, kZero);
}

}  // namespace

const SortChoice& sort_choice(ScreenSort sort) { return kSortChoices[index_of(sort)]; }

std::optional<ScreenSort> sort_by_key(char key) {
  for (const SortChoice& choice : kSortChoices) {
    if (choice.key == key) return choice.sort;
  }
  return std::nullopt;
}

std::optional<ScreenSort> sort_by_title(std::string_view title) {
  for (const SortChoice& choice : kSortChoices) {
    if (choice.title == title) return choice.sort;
  }
  return std::nullopt;
}

ScreenSort next_sort(ScreenSort sort) { return kSortChoices[(index_of(sort) + 1) % kSortChoices.size()].sort; }

ScreenSort previous_sort(ScreenSort sort) {
  return kSortChoices[(index_of(sort) + kSortChoices.size() - 1) % kSortChoices.size()].sort;
}

ScreenSort screen_sort(SortKey key) {
  switch (key) {
    case SortKey::kLive:
      return ScreenSort::kLive;
    case SortKey::kLiveCount:
      return ScreenSort::kBlocks;
    case SortKey::kAllocated:
      return ScreenSort::kAllocated;
    case SortKey::kAllocatedCount:
      return ScreenSort::kAllocations;
    case SortKey::kFreedCount:
      break;
  }
  return ScreenSort::kFrees;
}

Quantity quantity_of(ScreenSort sort) {
  const bool about_live = sort == ScreenSort::kLive || sort == ScreenSort::kBlocks || sort == ScreenSort::kChange ||
                          sort == ScreenSort::kFunction;
  return about_live ? Quantity::kLive : Quantity::kAllocated;
}

bool is_listed(const Counters& counters, ScreenSort sort) {
  switch (sort) {
    case ScreenSort::kLive:
    case ScreenSort::kBlocks:
      return counters.live_count() != 0;
    case ScreenSort::kFrees:
      return counters.freed_count != 0;
    case ScreenSort::kChange:
    case ScreenSort::kRate:
    case ScreenSort::kAllocated:
    case ScreenSort::kAllocations:
    case ScreenSort::kFunction:
      break;
  }
  return counters.allocated_count != 0;
}

std::uint64_t sort_value(const Counters& now, const Counters* before, ScreenSort sort) {
  const Counters nothing;
  const Counters& then = before == nullptr ? nothing : *before;
  switch (sort) {
    case ScreenSort::kLive:
      return now.live_bytes();
    case ScreenSort::kChange:
      return ordered_difference(then.live_bytes(), now.live_bytes());
    case ScreenSort::kBlocks:
      return now.live_count();
    case ScreenSort::kRate:
      return now.allocated_bytes - std::min(now.allocated_bytes, then.allocated_bytes);
    case ScreenSort::kAllocated:
      return now.allocated_bytes;
    case ScreenSort::kAllocations:
      return now.allocated_count;
    case ScreenSort::kFrees:
      return now.freed_count;
    case ScreenSort::kFunction:
      break;
  }
  return 0;
}

}  // namespace hawk
