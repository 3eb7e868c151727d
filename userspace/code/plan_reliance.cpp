#include "userspace/code/plan_reliance.h"

#include <algorithm>

namespace hawk {
namespace {

/// The function that begins there, if it has points.
const AllocatorFunction* find_planned(const AllocatorFile& allocator, std::uint64_t entry_offset) {
  const auto found =
      std::find_if(allocator.functions.begin(), allocator.functions.end(), [&](const AllocatorFunction& function) {
        return function.entry_offset == entry_offset && !function.yields.points.empty();
      });
  return found == allocator.functions.end() ? nullptr : &*found;
}

/// Whether all blocks that it returns are seen at those.
bool is_relied_on(const AllocatorFile& allocator, std::uint64_t entry_offset) {
  const AllocatorFunction* const function = find_planned(allocator, entry_offset);
  return function != nullptr && !function->yields.goes_on && !has_return_probe(*function);
}

bool has_all_it_needs(const AllocatorFile& allocator, const YieldPlan& plan) {
  return std::all_of(plan.relies_on.begin(), plan.relies_on.end(),
                     [&](std::uint64_t other) { return is_relied_on(allocator, other); }) &&
         std::all_of(plan.leaves_block_to.begin(), plan.leaves_block_to.end(),
                     [&](std::uint64_t other) { return find_planned(allocator, other) != nullptr; });
}

}  // namespace

void settle_reliance(AllocatorFile& allocator) {
  for (bool settled = false; !settled;) {
    settled = true;
    for (AllocatorFunction& function : allocator.functions) {
      if (has_all_it_needs(allocator, function.yields)) continue;
      function.yields = no_plan("it continues in a function of which points do not show all blocks");
      settled = false;
    }
  }
}

}  // namespace hawk
