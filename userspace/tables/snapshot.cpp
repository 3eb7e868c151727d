#include "userspace/tables/snapshot.h"

#include <algorithm>

namespace hawk {

bool Snapshot::stacks_complete() const {
  const auto is_whole = [](const StackRecord& stack) {
    return stack.id != kNoStack && stack.quality() == HAWK_STACK_COMPLETE;
  };
  if (!losses.keep(Promise::kStacks)) return false;
  return known_of_stacks.all_complete || std::all_of(stacks.begin(), stacks.end(), is_whole);
}

std::span<const StackShare> Snapshot::shares_of(StackId stack) const {
  const auto less = [](const StackShare& share, StackId id) { return share.stack < id; };
  const auto first = std::lower_bound(shares.begin(), shares.end(), stack, less);
  auto last = first;
  while (last != shares.end() && last->stack == stack) ++last;
  return {first, last};
}

std::string_view dump_cause_name(DumpCause cause) {
  static constexpr std::string_view kNames[kDumpCauses] = {"", "signal", "time", "allocated", "growth", "peak"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::string_view point_shows_name(PointShows shows) {
  static constexpr std::string_view kNames[kPointsShow] = {"call", "size", "result", "return_probe"};
  return kNames[static_cast<std::size_t>(shows)];
}

}  // namespace hawk
