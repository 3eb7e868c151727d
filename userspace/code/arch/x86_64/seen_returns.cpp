#include "userspace/code/arch/x86_64/seen_returns.h"

#include <optional>
#include <set>

#include "userspace/code/arch/x86_64/yield_seats.h"

namespace hawk {
namespace {

/// Where calls end, whoever has made them.
std::set<Seat> ends_of(const CodeGraph& graph, const YieldPlan& plan) {
  std::set<Seat> ends;
  for (const YieldPoint& point : plan.points) {
    const bool is_final = point.kind == PointKind::kYield || point.kind == PointKind::kYieldAfterSize;
    const auto node = graph.find(point.vaddr);
    if (is_final && !point.called_by && node) ends.insert({.node = *node, .condition = point.condition});
  }
  return ends;
}

}  // namespace

bool sees_every_return(const CodeGraph& graph, const YieldPlan& plan, const std::vector<std::size_t>& exits) {
  const std::set<Seat> ends = ends_of(graph, plan);
  const std::set<std::size_t> leaves(exits.begin(), exits.end());
  std::vector<bool> reached(graph.nodes.size());
  std::vector<std::size_t> pending;
  const auto reach = [&](std::size_t node) {
    if (reached[node]) return;
    reached[node] = true;
    pending.push_back(node);
  };
  reach(graph.entry);
  while (!pending.empty()) {
    const std::size_t at = pending.back();
    pending.pop_back();
    const CodeNode& node = graph.nodes[at];
    if (ends.contains({.node = at, .condition = std::nullopt})) continue;
    if (node.is_return() || leaves.contains(at)) return false;
    for (const std::size_t next : node.next) {
      if (!node.is_branch() || !ends.contains(seat_on_branch(graph, at, next))) reach(next);
    }
  }
  return true;
}

}  // namespace hawk
