#include "userspace/code/yield_points.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "userspace/code/arch/x86_64/function_plan.h"

namespace hawk {

YieldPlanner::YieldPlanner(BranchTargets& resolver, CodeScan& scan, Plans plans, SeenFunctions seen)
    : resolver_(resolver),
      seen_(std::move(seen)),
      effects_(
          resolver, [this](std::uint64_t vaddr) { return seen_(vaddr).has_value(); }, plans == Plans::kMadeForMappings),
      scan_(scan) {}

namespace {

/// Whether its calls can be seen where another function makes their blocks.
bool may_inline(hawk_call_kind kind) { return returns_block(kind) && !must_open_at_entry(kind); }

bool is_seen_twice(const YieldPlan& plan) {
  return !plan.fallback.empty() || plan.opens_at_entry ||
         std::any_of(plan.points.begin(), plan.points.end(),
                     [](const YieldPoint& point) { return point.kind == PointKind::kSize; });
}

}  // namespace

YieldPlan YieldPlanner::plan(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr) {
  YieldPlan plan = plan_alone(function, seen, entry_probe_vaddr);
  if (!is_seen_twice(plan) || !may_inline(seen.kind)) return plan;
  YieldPlan inlining = plan_inlining(function, seen, entry_probe_vaddr, false);
  return inlining.fallback.empty() ? inlining : plan;
}

std::optional<YieldPlan> YieldPlanner::plan_in_shared(FunctionExtent function, const SeenFunction& seen,
                                                      std::uint64_t entry_probe_vaddr) {
  if (shared_.empty() || !may_inline(seen.kind)) return std::nullopt;
  YieldPlan inlining = plan_inlining(function, seen, entry_probe_vaddr, true);
  return inlining.fallback.empty() ? std::optional(std::move(inlining)) : std::nullopt;
}

YieldPlan YieldPlanner::plan_inlining(FunctionExtent function, const SeenFunction& seen,
                                      std::uint64_t entry_probe_vaddr, bool only_shared) {
  if (scan_.may_have_abort_handlers()) return no_plan("its file may have restartable sequences");
  return plan_following(function, seen, entry_probe_vaddr, true, [&](FunctionPlan& outer) {
    const InlinedCalls inlined = outer.inlined_calls();
    if (inlined.calls.empty() || (only_shared && !shared_.contains(inlined.callee_vaddr)))
      return no_plan("its blocks are not made by one other function");
    YieldPlan plan = outer.run_around(inlined, plan_inlined(inlined.callee_vaddr, inlined.size_register));
    if (plan.fallback.empty()) shared_.insert(inlined.callee_vaddr);
    return plan;
  });
}

const YieldPlan& YieldPlanner::plan_inlined(std::uint64_t vaddr, std::uint8_t size_register) {
  const auto [known, is_new] = inlined_.emplace(std::pair(vaddr, size_register), YieldPlan());
  if (!is_new) return known->second;
  const std::optional<std::uint64_t> bytes = resolver_.exceptions().bytes_from(vaddr);
  if (!bytes) return known->second = no_plan("it is not known where the function that makes its block ends");
  SeenFunction asked = {.kind = HAWK_CALL_MALLOC};
  asked.arguments[0] = size_register;
  const auto run = [](FunctionPlan& plan) { return plan.run_inside(); };
  return known->second = plan_following({vaddr, *bytes}, asked, 0, true, run);
}

YieldPlan YieldPlanner::plan_alone(FunctionExtent function, const SeenFunction& seen, std::uint64_t entry_probe_vaddr) {
  if (scan_.may_have_abort_handlers()) return no_plan("its file may have restartable sequences");
  if (seen.kind == HAWK_CALL_POSIX_MEMALIGN) {
    YieldPlan wrapping = plan_wrapping(function, seen, entry_probe_vaddr);
    if (wrapping.fallback.empty()) return wrapping;
  }
  const auto run = [](FunctionPlan& plan) { return plan.run(); };
  YieldPlan plan = plan_following(function, seen, entry_probe_vaddr, true, run);
  if (plan.fallback.empty()) return plan;
  YieldPlan ending = plan_following(function, seen, entry_probe_vaddr, false, run);
  return ending.fallback.empty() ? ending : plan;
}

YieldPlan YieldPlanner::plan_wrapping(FunctionExtent function, const SeenFunction& seen,
                                      std::uint64_t entry_probe_vaddr) {
  return plan_following(function, seen, entry_probe_vaddr, true, [&](FunctionPlan& outer) {
    const std::optional<WrappedCall> call = outer.wrapped_call();
    if (!call || !call->target.vaddr) return no_plan("its block is not made by one other function");
    const std::optional<SeenFunction> known = seen_(*call->target.vaddr);
    const SeenFunction inner = known.value_or(SeenFunction{.kind = HAWK_CALL_ALIGNED_ALLOC});
    if (!outer.passes_size(*call, inner))
      return no_plan("the function that makes its block is asked for something else");
    return outer.wrap(*call, known ? plan_of_seen(*call->target.vaddr) : plan_inside(*call->target.vaddr, inner));
  });
}

YieldPlan YieldPlanner::plan_of_seen(std::uint64_t vaddr) {
  const std::optional<std::uint64_t> offset = resolver_.image().file_offset_of(vaddr);
  if (!offset) return no_plan("its code is not in the file");
  YieldPlan plan;
  plan.relies_on.push_back(*offset);
  return plan;
}

YieldPlan YieldPlanner::plan_inside(std::uint64_t vaddr, const SeenFunction& seen) {
  const std::optional<std::uint64_t> bytes = resolver_.exceptions().bytes_from(vaddr);
  if (!bytes) return no_plan("it is not known where the function that makes its block ends");
  return plan_following({vaddr, *bytes}, seen, 0, true, [](FunctionPlan& plan) { return plan.run_opened(); });
}

YieldPlan YieldPlanner::plan_following(FunctionExtent function, const SeenFunction& seen,
                                       std::uint64_t entry_probe_vaddr, bool follows_jumps,
                                       const std::function<YieldPlan(FunctionPlan&)>& make) {
  if (function.size_bytes == 0) return no_plan("its symbol does not say where it ends");
  const auto is_inside = [&](std::uint64_t vaddr) {
    return vaddr >= function.vaddr && vaddr - function.vaddr < function.size_bytes;
  };
  WalkOptions options;
  options.record_steps = true;
  options.calls_end_paths = false;
  options.follow_exceptions = true;
  options.never_returns = [this](const CodeTarget& target, const StackState& state) {
    return effects_.never_returns(target, state.first_constant);
  };
  const auto ends_jump = [&](const CodeTarget& target) {
    if (resolver_.returns_first_argument(target)) return true;
    if (resolver_.is_noreturn(target) || effects_.never_returns(target)) return false;
    if (!target.vaddr) return !target.name.empty();
    return !is_inside(*target.vaddr) && (!follows_jumps || seen_(*target.vaddr).has_value());
  };
  options.ends_path = ends_jump;
  const FunctionWalk walk = walk_function(resolver_, function, options);
  if (!walk.incomplete.empty()) return no_plan(walk.incomplete);
  if (scan_.may_enter(function, walk)) return no_plan("other code jumps into its middle");
  if (scan_.has_function_inside(function)) return no_plan("another function begins in its middle");
  FunctionPlan plan(resolver_, effects_, seen_, function, seen, entry_probe_vaddr, walk, ends_jump);
  if (plan.begins_again()) return no_plan("its first instruction may be executed again in the same call");
  return make(plan);
}

}  // namespace hawk
