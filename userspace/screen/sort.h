#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "userspace/report/quantity.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What the list of stacks is ordered by: the largest first, names in alphabetical order.
enum class ScreenSort { kLive, kChange, kBlocks, kRate, kAllocated, kAllocations, kFrees, kFunction };

/// How an order is chosen and named.
struct SortChoice {
  ScreenSort sort;
  char key;                ///< typed to choose it
  std::string_view title;  ///< of its column
  std::string_view words;  ///< in help and messages
};

inline constexpr std::array<SortChoice, 8> kSortChoices = {{
    {ScreenSort::kLive, 'l', "LIVE", "live bytes"},
    {ScreenSort::kChange, 'c', "CHANGE", "change of the live bytes"},
    {ScreenSort::kBlocks, 'k', "BLOCKS", "live blocks"},
    {ScreenSort::kRate, 'r', "ALLOC/s", "bytes allocated per second"},
    {ScreenSort::kAllocated, 'a', "ALLOCATED", "allocated bytes"},
    {ScreenSort::kAllocations, 'n', "ALLOCATIONS", "allocations"},
    {ScreenSort::kFrees, 'd', "FREES", "frees"},
    {ScreenSort::kFunction, 'f', "FUNCTION", "function name"},
}};

const SortChoice& sort_choice(ScreenSort sort);
/// The order whose key or whose column's title this is.
std::optional<ScreenSort> sort_by_key(char key);
std::optional<ScreenSort> sort_by_title(std::string_view title);
ScreenSort next_sort(ScreenSort sort);
ScreenSort previous_sort(ScreenSort sort);
/// The order of --sort.
ScreenSort screen_sort(SortKey key);

/// Whether shares and sizes shown with that order refer to live or to allocated memory.
Quantity quantity_of(ScreenSort sort);

/// Whether a stack with nothing of what is sorted by is left out: one that has freed everything, of the live bytes.
bool is_listed(const Counters& counters, ScreenSort sort);

/// A number by which `now` is ordered, the largest first. `before`: its counters at the refresh before, nullptr for a
/// new stack. 0 for kFunction.
std::uint64_t sort_value(const Counters& now, const Counters* before, ScreenSort sort);

}  // namespace hawk
