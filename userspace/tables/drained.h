#pragma once

#include <cstdint>
#include <vector>

#include "userspace/base/ids.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/losses.h"

namespace hawk {

/// A stack that the kernel interned since the drain before.
struct NewStack {
  StackId id = kNoStack;
  std::uint32_t exec_epoch = 0;  ///< which program of the process it belongs to: 0 until the first exec
  bool truncated = false;
  std::vector<std::uint64_t> addresses;  ///< return addresses, caller of the allocator first
};

/// The kernel's counters of one stack since the trace began, summed over CPUs.
struct StackCounters {
  StackId id = kNoStack;
  Counters counters;
};

/// What one drain read, as plain values: the end of the kernel's map layouts.
struct Drained {
  std::uint32_t exec_epoch = 0;  ///< current one
  std::vector<NewStack> new_stacks;
  std::vector<StackCounters> counters;  ///< every stack with at least one allocation
  std::uint64_t frees_of_untraced = 0;
  Losses losses;
};

}  // namespace hawk
