#pragma once

#include <cstdint>

#include "userspace/attach/module_map.h"
#include "userspace/code/allocator_file.h"
#include "userspace/tables/snapshot.h"
#include "userspace/tracer/probe_cost.h"

namespace hawk {

/// What the report says of a file's probed functions.
Allocator describe(const MappedModule& module, const AllocatorFile& file);

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

}  // namespace hawk
