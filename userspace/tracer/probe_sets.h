#pragma once

#include <cstdint>
#include <vector>

#include "userspace/code/allocator_file.h"
#include "userspace/tracer/links.h"
#include "userspace/tracer/yield_points.h"

namespace hawk {

/// The probes of one file, by the program that takes them.
struct ProbeSets {
  std::vector<Probe> frees;
  std::vector<Probe> returning;         ///< allocating functions whose return the kernel may hijack
  std::vector<Probe> entries;           ///< of the others
  std::vector<Probe> throwing_returns;  ///< where functions that may throw return
  std::vector<Probe> planned_entries;   ///< of functions whose plan needs them
  std::vector<YieldProbe> yields;       ///< points inside allocating functions that have a plan
  std::vector<Probe> unfollowed;        ///< functions whose calls are counted
};

/// See HAWK_COOKIE_AT_RET.
std::uint64_t return_cookie(const ReturnPoint& point);

/// Whether the block of a free is in another register at its probe than it is passed in.
bool has_moved_block(const Probe& probe);

/// What to probe in a file, and with which cookies.
ProbeSets sort_probes(const AllocatorFile& allocator);

}  // namespace hawk
