#include "userspace/tables/snapshot.h"

#include <algorithm>

namespace hawk {

bool Snapshot::stacks_complete() const {
  const auto is_whole = [](const StackRecord& stack) {
    return stack.id != kNoStack && stack.quality() == HAWK_STACK_COMPLETE;
  };
  return losses.keep(Promise::kStacks) && std::all_of(stacks.begin(), stacks.end(), is_whole);
}

std::string_view dump_cause_name(DumpCause cause) {
  static constexpr std::string_view kNames[kDumpCauses] = {"", "signal", "time", "allocated", "growth", "peak"};
  return kNames[static_cast<std::size_t>(cause)];
}

}  // namespace hawk
