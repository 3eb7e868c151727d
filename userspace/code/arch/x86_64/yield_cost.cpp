#include "userspace/code/arch/x86_64/yield_cost.h"

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

namespace hawk {
namespace {

bool is_final(const YieldPoint& point) {
  return point.kind == PointKind::kYield || point.kind == PointKind::kYieldAfterSize ||
         point.kind == PointKind::kYieldAhead;
}

}  // namespace

unsigned fewest_traps(const CodeGraph& graph, const YieldPlan& plan) {
  std::map<std::size_t, const YieldPoint*> points;
  for (const YieldPoint& point : plan.points) {
    if (const auto node = graph.find(point.vaddr)) points.emplace(*node, &point);
  }
  using Way = std::tuple<unsigned, std::size_t>;  // traps before the node, and the node
  std::priority_queue<Way, std::vector<Way>, std::greater<>> pending;
  std::vector<unsigned> fewest(graph.nodes.size(), std::numeric_limits<unsigned>::max());
  const auto reach = [&](std::size_t node, unsigned traps) {
    if (traps >= fewest[node]) return;
    fewest[node] = traps;
    pending.emplace(traps, node);
  };
  if (!graph.nodes.empty()) reach(graph.entry, 0);
  while (!pending.empty()) {
    const auto [traps, at] = pending.top();
    pending.pop();
    if (traps > fewest[at]) continue;
    const auto point = points.find(at);
    const unsigned own = point == points.end() || point->second->kind == PointKind::kForward ? 0
                         : point->second->single_stepped                                     ? 2
                                                                                             : 1;
    const bool ends =
        point != points.end() && is_final(*point->second) && point->second->result.kind != Operand::Kind::kConstant;
    if (ends) return traps + own;
    for (const std::size_t next : graph.nodes[at].next) reach(next, traps + own);
  }
  return 0;
}

}  // namespace hawk
