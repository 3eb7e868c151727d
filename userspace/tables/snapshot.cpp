#include "userspace/tables/snapshot.h"

#include <algorithm>

namespace hawk {

bool Snapshot::stacks_complete() const {
  const auto is_whole = [](const StackRecord& stack) {
    return stack.id != kNoStack && stack.quality() == HAWK_STACK_COMPLETE;
  };
  return losses.keep(Promise::kStacks) && std::all_of(stacks.begin(), stacks.end(), is_whole);
}

}  // namespace hawk
