#include "userspace/code/plan_reliance.h"

#include <algorithm>

namespace hawk {
namespace {

/// Whether all blocks that the function that begins there returns are seen at points of its own.
bool is_relied_on(const AllocatorFile& allocator, std::uint64_t entry_offset) {
  return std::any_of(allocator.functions.begin(), allocator.functions.end(), [&](const AllocatorFunction& function) {
    return function.entry_offset == entry_offset && !function.yields.points.empty() && !function.yields.goes_on &&
           !has_return_probe(function);
  });
}

}  // namespace

void settle_reliance(AllocatorFile& allocator) {
  for (bool settled = false; !settled;) {
    settled = true;
    for (AllocatorFunction& function : allocator.functions) {
      const std::vector<std::uint64_t>& others = function.yields.relies_on;
      if (std::all_of(others.begin(), others.end(),
                      [&](std::uint64_t other) { return is_relied_on(allocator, other); }))
        continue;
      function.yields = no_plan("it continues in a function of which points do not show all blocks");
      settled = false;
    }
  }
}

}  // namespace hawk
