#include "userspace/tables/live_ages.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "userspace/tables/snapshot.h"

namespace hawk {
namespace {

/// `blocks`: of one stack.
void bound(std::span<AgedBlocks> blocks, const Counters& counters) {
  std::uint64_t bytes = counters.live_bytes();
  std::uint64_t count = counters.live_count();
  for (AgedBlocks& aged : blocks) {
    aged.bytes = std::min(aged.bytes, bytes);
    aged.count = std::min(aged.count, count);
    bytes -= aged.bytes;
    count -= aged.count;
  }
}

}  // namespace

std::size_t LiveAges::generation_of(std::uint64_t born_ms) const {
  return static_cast<std::size_t>(std::upper_bound(marks_ms.begin(), marks_ms.end(), born_ms) - marks_ms.begin());
}

bool AgeWindow::has(const LiveAges& ages, const AgedBlocks& aged) const {
  const std::uint64_t age_ms = ages.age_ms(aged);
  return (!min_age_ms || age_ms >= *min_age_ms) && (!max_age_ms || age_ms <= *max_age_ms) &&
         (!generation || ages.generation_of(aged.born_ms) == *generation);
}

std::vector<std::uint64_t> AgeWindow::cuts_ms(std::uint64_t now_ms) const {
  std::vector<std::uint64_t> cuts;
  if (min_age_ms && *min_age_ms <= now_ms) cuts.push_back(now_ms - *min_age_ms + 1);
  if (max_age_ms && *max_age_ms <= now_ms) cuts.push_back(now_ms - *max_age_ms);
  return cuts;
}

void bound_ages(LiveAges& ages, const std::vector<StackRecord>& stacks) {
  auto stack = stacks.begin();
  for (auto first = ages.blocks.begin(); first != ages.blocks.end();) {
    const auto last =
        std::find_if(first, ages.blocks.end(), [&](const AgedBlocks& b) { return b.stack != first->stack; });
    while (stack != stacks.end() && stack->id < first->stack) ++stack;
    const bool is_known = stack != stacks.end() && stack->id == first->stack;
    bound({first, last}, is_known ? stack->counters : Counters{});
    first = last;
  }
  std::erase_if(ages.blocks, [](const AgedBlocks& aged) { return aged.count == 0; });
}

}  // namespace hawk
