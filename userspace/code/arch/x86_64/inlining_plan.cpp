// The plan of a function that has its blocks made by another one, with points in that.

#include <algorithm>
#include <utility>

#include "userspace/code/arch/x86_64/function_plan.h"

namespace hawk {
namespace {

/// Whether each call runs into one point, and is opened nowhere.
bool sees_at_once(const YieldPlan& plan) {
  return !plan.opens_at_entry && std::all_of(plan.points.begin(), plan.points.end(),
                                             [](const YieldPoint& point) { return point.kind == PointKind::kYield; });
}

}  // namespace

FunctionPlan::FunctionPlan(const FunctionPlan& whole, CodeGraph rest)
    : resolver_(whole.resolver_),
      effects_(whole.effects_),
      function_(whole.function_),
      asked_(whole.asked_),
      entry_probe_vaddr_(whole.entry_probe_vaddr_),
      graph_(std::move(rest)),
      operands_(graph_, asked_),
      certain_(follow_results(graph_, asked_.kind == HAWK_CALL_POSIX_MEMALIGN)) {
  for (const Exit& exit : whole.exits_) {
    const auto node = graph_.find(whole.graph_.nodes[exit.node].instruction.vaddr);
    if (node) exits_.push_back({*node, exit.target, exit.seen});
  }
}

YieldPlan FunctionPlan::run_inside() {
  if (!exits_.empty()) return no_plan("the function that makes its block goes on in another one");
  YieldPlan plan = make(false, Failures::kUnseen);
  if (plan.fallback.empty() && !sees_at_once(plan))
    return no_plan("the function that makes its block is seen at several points");
  return plan;
}

InlinedCalls FunctionPlan::inlined_calls() {
  const CalleeFacts facts = {
      .target_at = [this](std::size_t node) { return target_of(resolver_, graph_.nodes[node].instruction); },
      .may_allocate = [this](const CodeTarget& target) { return effects_.may_allocate(target); },
      .may_throw = [this](const CodeTarget& target) { return effects_.may_throw(target); },
  };
  return find_inlined_calls(graph_, operands_, meaning_of(asked_.kind).factor.has_value(), certain_, facts);
}

YieldPlan FunctionPlan::points_beside(const std::vector<std::size_t>& calls) {
  if (!allocating_calls(calls).empty())
    return no_plan("something that may allocate is called before its block is made");
  YieldPlan plan = choose_points(false, Failures::kUnseen);
  if (plan.fallback.empty() && !sees_at_once(plan)) return no_plan("some of its calls are seen at several points");
  return plan;
}

YieldPlan FunctionPlan::run_around(const InlinedCalls& inlined, const YieldPlan& inner) {
  if (!inner.fallback.empty()) return inner;
  FunctionPlan rest(*this, without_returns_of(graph_, inlined));
  std::vector<std::size_t> calls;
  for (const InlinedCalls::Call& call : inlined.calls) {
    const auto node = rest.graph_.find(graph_.nodes[call.node].instruction.vaddr);
    if (node) calls.push_back(*node);
  }
  YieldPlan plan = rest.points_beside(calls);
  if (!plan.fallback.empty()) return plan;
  for (const YieldPoint& point : plan.points) {
    const auto node = graph_.find(point.vaddr);
    if (!node || inlined.behind[*node]) return no_plan("it goes on alike whichever way its block is made");
  }
  for (const InlinedCalls::Call& call : inlined.calls) {
    for (YieldPoint point : inner.points) {
      point.called_by = call.frame;
      plan.points.push_back(point);
    }
  }
  plan = finished(std::move(plan));
  add_code_of(inner, plan);
  return plan;
}

}  // namespace hawk
