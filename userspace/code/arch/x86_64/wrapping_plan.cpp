// The plan of a function that stores a block which another one makes.

#include <optional>
#include <utility>

#include "userspace/code/arch/x86_64/function_plan.h"

namespace hawk {

std::optional<WrappedCall> FunctionPlan::wrapped_call() {
  if (asked_.kind != HAWK_CALL_POSIX_MEMALIGN || !exits_.empty()) return std::nullopt;
  const auto target_at = [&](std::size_t node) { return target_of(resolver_, graph_.nodes[node].instruction); };
  std::optional<WrappedCall> call = find_wrapped_call(
      graph_, operands_.values(), [&](std::size_t node) { return effects_.may_allocate(target_at(node)); });
  if (call) call->target = target_at(call->node);
  return call;
}

bool FunctionPlan::passes_size(const WrappedCall& call, const SeenFunction& inner) const {
  const auto there = passed_in(inner);
  const std::uint32_t holders = operands_.values()[call.node][kSize].registers;
  return returns_block(inner.kind) && there[kSize] && !there[kFactor] && !there[kBlock] &&
         (holders >> *there[kSize] & 1) != 0;
}

/// Whether every path comes by there first.
bool FunctionPlan::is_first(std::size_t seat) const {
  std::size_t at = graph_.entry;
  for (std::size_t left = graph_.nodes.size(); at != seat && left > 0; --left) {
    const CodeNode& node = graph_.nodes[at];
    if (node.next.size() != 1 || node.is_call() || node.is_return() || !node.has_all_ways) return false;
    at = node.next.front();
  }
  return at == seat;
}

YieldPlan FunctionPlan::wrap(const WrappedCall& call, const YieldPlan& inner) const {
  if (!inner.fallback.empty()) return inner;
  YieldPlan plan;
  const auto seat = graph_.find(entry_probe_vaddr_);
  const bool can_sit = seat && is_first(*seat) && graph_.nodes[*seat].is_emulated && !graph_.nodes[*seat].is_call();
  const auto size = can_sit ? operands_.size_at(*seat) : std::nullopt;
  if (!size) return no_plan("no instruction that every call begins with is one that the kernel emulates");
  YieldPoint opened = point_on({.node = *seat, .condition = std::nullopt}, PointKind::kSize);
  opened.size = size->size;
  opened.inner = call.inner;
  if (!operands_.set_frame(*seat, opened)) return no_plan("the caller's frame is not known where it begins");
  plan.points.push_back(opened);
  for (const std::size_t node : call.failures) {
    YieldPoint failure = point_on({.node = node, .condition = std::nullopt}, PointKind::kYieldAfterSize);
    failure.result = {Operand::Kind::kConstant, 0};
    if (!operands_.set_frame(node, failure)) return no_plan("the caller's frame is not known where it returns");
    plan.points.push_back(failure);
  }
  if (!inner.relies_on.empty()) {
    const auto failure = point_where_null(call);
    if (!failure) return no_plan("no branch that the kernel emulates shows whether its block has been made");
    plan.points.push_back(*failure);
  }
  plan.points.insert(plan.points.end(), inner.points.begin(), inner.points.end());
  plan = finished(std::move(plan));
  add_code_of(inner, plan);
  plan.relies_on = inner.relies_on;
  return plan;
}

/// Where the other function has returned null, which need not be seen there.
std::optional<YieldPoint> FunctionPlan::point_where_null(const WrappedCall& call) const {
  if (!call.judged_at || !is_real_branch(graph_.nodes[call.judged_at->node])) return std::nullopt;
  const Seat seat = seat_on_branch(graph_, call.judged_at->node, call.judged_at->if_null);
  YieldPoint point = point_on(seat, PointKind::kYieldAfterSize);
  point.result = {Operand::Kind::kConstant, 0};
  return operands_.set_frame(seat.node, point) ? std::optional(point) : std::nullopt;
}

}  // namespace hawk
