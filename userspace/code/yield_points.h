#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "bpf/kinds.h"
#include "userspace/code/allocator_catalogue.h"
#include "userspace/code/branch_targets.h"
#include "userspace/code/call_effects.h"
#include "userspace/code/code_scan.h"
#include "userspace/code/function_walk.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// A function of the file whose calls are seen.
struct SeenFunction {
  hawk_call_kind kind = HAWK_CALL_NONE;
  ArgumentRegisters arguments = kPassedInOrder;  ///< in which it is called
  bool may_throw = false;                        ///< so that there is no return probe in place of a plan
  unsigned most_traps = 1;                       ///< how many points a call may run into
  bool rounds_to_pages = false;                  ///< it asks others for whole pages: see YieldPlan
  bool is_malloc = false;                        ///< by all its names
};

/// The one that begins at an address; nullopt: none does.
using SeenFunctions = std::function<std::optional<SeenFunction>(std::uint64_t vaddr)>;

class FunctionPlan;

/// Makes the plans (see YieldPlan) of a file's functions. All that it is given must outlive it. Not thread-safe.
class YieldPlanner {
 public:
  YieldPlanner(BranchTargets& resolver, CodeScan& scan, Plans plans, SeenFunctions seen);

  /// `entry_probe_vaddr`: where the function's entry probe would be.
  YieldPlan plan(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr);
  /// The plan of a function that calls one in which the plans made so far have points: it would run into these as well,
  /// and has all its own there. nullopt: it calls none, or has no such plan.
  std::optional<YieldPlan> plan_in_shared(FunctionExtent function, const SeenFunction& seen,
                                          std::uint64_t entry_probe_vaddr);

 private:
  /// With points in a function that makes its blocks, and which it calls.
  YieldPlan plan_inlining(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr,
                          bool only_shared);
  const YieldPlan& plan_inlined(std::uint64_t vaddr, std::uint8_t size_register);
  /// Without points in functions that others call too.
  YieldPlan plan_alone(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr);
  /// Of a function that has its block made by another one, and stores it.
  YieldPlan plan_wrapping(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr);
  /// Of the other one: if its calls are seen themselves, and if not.
  YieldPlan plan_of_seen(std::uint64_t vaddr);
  YieldPlan plan_inside(std::uint64_t vaddr, const SeenFunction& seen);
  /// `follows_jumps`: into functions that are not seen.
  YieldPlan plan_following(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr,
                           bool follows_jumps, const std::function<YieldPlan(FunctionPlan&)>& make);

  BranchTargets& resolver_;
  SeenFunctions seen_;
  CallEffects effects_;
  CodeScan& scan_;
  /// Of functions that make others' blocks, by their addresses and the register in which they get the size.
  std::map<std::pair<std::uint64_t, std::uint8_t>, YieldPlan> inlined_;
  std::set<std::uint64_t> shared_;  ///< of those, the ones in which plans have points
};

}  // namespace hawk
