#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "userspace/code/arch/x86_64/stack_state.h"
#include "userspace/code/branch_targets.h"

namespace hawk {

/// Where a function begins and, when the symbol says so, how long it is (0: unknown).
struct FunctionExtent {
  std::uint64_t vaddr = 0;
  std::uint64_t size_bytes = 0;
};

/// One call instruction on some path through a function.
struct CallSite {
  std::uint64_t return_vaddr = 0;
  CodeTarget target;
  StackState state;  ///< as it is once the call has returned
};

/// One instruction that some path through a function runs through.
struct WalkStep {
  StackState before;                      ///< however it is reached
  std::vector<std::uint64_t> successors;  ///< where paths go from it; none: they end there
};

/// What all paths through a function have in store.
struct FunctionWalk {
  std::vector<std::uint64_t> branch_targets;  ///< of direct jumps and branches; sorted
  std::vector<CallSite> calls;                ///< sorted by return_vaddr
  std::vector<std::uint64_t> returns;         ///< vaddrs of `ret`, those of tail-called functions included; sorted
  std::size_t ended_paths = 0;                ///< jumps and calls at which WalkOptions::ends_path said so
  std::map<std::uint64_t, WalkStep> steps;    ///< by vaddr; only if WalkOptions::record_steps
  std::string incomplete;                     ///< why not everything was followed; empty: everything was
};

struct WalkOptions {
  /// Bounds the work on code that is not what it seems, and on damaged files.
  std::size_t max_instructions = 4096;
  /// A path ends at a call or jump to a target for which this returns true.
  std::function<bool(const CodeTarget&)> ends_path = [](const CodeTarget&) { return false; };
  /// Functions whose calls do not return, in addition to those known by name, given what is known about the caller.
  std::function<bool(const CodeTarget&, const StackState&)> never_returns = [](const CodeTarget&, const StackState&) {
    return false;
  };
  /// A call to such a target ends the path; otherwise the path continues after it, and only jumps end it.
  bool calls_end_paths = true;
  /// Paths on which the first argument has been found to be null are left alone.
  bool skip_null_argument = false;
  bool record_steps = false;
  /// From calls paths also lead to where their exceptions are handled.
  bool follow_exceptions = false;
};

/// Follows every path from the function's entry: both ways of branches, over calls, through direct jumps into other
/// functions and PLT stubs whose symbol this file defines.
FunctionWalk walk_function(BranchTargets& resolver, FunctionExtent function, const WalkOptions& options = {});

}  // namespace hawk
