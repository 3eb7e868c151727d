#pragma once

#include <cstdint>
#include <vector>

#include "userspace/attach/module_map.h"
#include "userspace/code/allocator_file.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/probe_cost.h"

namespace hawk {

/// What the report says of a file's probed functions. `by_plan`: calls are seen inside those that have a plan.
Allocator describe(const MappedModule& module, const AllocatorFile& file, bool by_plan);

/// The plan's points that have a probe, as ProbedFunction::points has them in order.
std::vector<YieldPoint> probed_points_of(const YieldPlan& plan);

/// What each call of a function runs into.
struct CallTraps {
  bool stepped_entry = false;
  bool kernel_return = false;    ///< a return probe
  bool stepped_return = false;   ///< a probe on its ret
  bool emulated_return = false;  ///< a probe from where it is certain to return
};
CallTraps traps_of(const AllocatorFunction& function);

/// What a call pays for them.
std::uint64_t cost_of(const CallTraps& traps, const ProbeCosts& costs);
/// What one pays for the trap at a point.
std::uint64_t cost_of(const ProbedPoint& point, const ProbeCosts& costs);

}  // namespace hawk
