#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// Where a function takes its block from a free list of its thread's, which it does not do if that is empty. Nodes are
/// named by their index.
struct FreeListTaken {
  /// From a point where the size is known (kSize).
  struct Way {
    std::size_t branch = 0;
    FreeList list;  ///< by what is in the registers there
  };
  std::vector<Way> ways;  ///< all that lead to `test`
  std::size_t test = 0;   ///< the branch at which the block is known (kYieldAfterSize)
};

/// Those among the points of a function, of which YieldPlan's tenth claim holds. `is_own`: whether a node is in code
/// of the function alone.
std::vector<FreeListTaken> find_free_lists(const CodeGraph& graph, std::span<const YieldPoint> points,
                                           const std::function<bool(std::size_t)>& is_own);

}  // namespace hawk
