#pragma once

#include <cstdint>
#include <vector>

#include "userspace/code/allocator_file.h"
#include "userspace/code/branch_targets.h"
#include "userspace/code/function_walk.h"

namespace hawk {

/// Where a function's returns can be seen.
struct ReturnProbes {
  std::vector<std::uint64_t> rets;    ///< vaddrs of `ret` instructions to be probed themselves; sorted
  std::vector<ReturnPoint> points;    ///< sorted by vaddr
  std::vector<std::uint64_t> hidden;  ///< vaddrs of those whose every run is seen at one of `points`; sorted

  /// Has all `ret` instructions probed themselves.
  void give_up_points();
};

/// Finds instructions at which returns are seen for less than at `ret`, which the kernel has to single-step. Of a `ret`
/// that is given up for points all this has been shown:
///
/// - every path through the function to that `ret` runs through exactly one of the points, once;
/// - from a point there are only paths to such a `ret`, without a call, a loop or a jump out of the function's extent;
/// - the register named by the point goes to rax and is not changed before that; what is on the way moves rsp by known
///   amounts; and rbp is the caller's at the `ret`, restored from where the point says that it has been saved.
///
/// Neither unwinding nor a restartable sequence (rseq) can reach such a `ret` in another way: the function has no
/// handlers, and the file no abort handlers. Where any of that is in doubt, `ret` instructions remain.
///
/// `walk` must be complete and have steps. `entry_probe_vaddr`: where the function's entry is seen; all that precedes
/// it is no place for a point.
ReturnProbes place_returns(BranchTargets& resolver, FunctionExtent function, const FunctionWalk& walk,
                           std::uint64_t entry_probe_vaddr);

}  // namespace hawk
