#include "userspace/attach/probed_functions.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace hawk {
namespace {

/// Of the names of one address, the one that programs use: no alias of the library's own, and the plainest.
bool is_plainer(const std::string& a, const std::string& b) {
  return std::tuple(a.starts_with('_'), a.size(), a) < std::tuple(b.starts_with('_'), b.size(), b);
}

bool has_plan(const AllocatorFunction& function) { return !function.yields.points.empty(); }

PointShows shows_of(PointKind kind) {
  switch (kind) {
    case PointKind::kSize:
      return PointShows::kSize;
    case PointKind::kYieldAfterSize:
      return PointShows::kResult;
    case PointKind::kReturnProbe:
      return PointShows::kReturnProbe;
    default:
      return PointShows::kCall;
  }
}

std::vector<ProbedPoint> describe_points(const YieldPlan& plan) {
  std::vector<ProbedPoint> points;
  for (const YieldPoint& point : probed_points_of(plan)) {
    // Of several callers: they are sorted.
    if (!points.empty() && points.back().file_offset == point.file_offset) continue;
    points.push_back({.shows = shows_of(point.kind),
                      .file_offset = point.file_offset,
                      .single_stepped = point.single_stepped,
                      .conditional = point.condition.has_value()});
  }
  return points;
}

}  // namespace

std::vector<YieldPoint> probed_points_of(const YieldPlan& plan) {
  std::vector<YieldPoint> points = plan.points;
  std::erase_if(points, [](const YieldPoint& point) { return point.kind == PointKind::kForward; });
  return points;
}

Allocator describe(const MappedModule& module, const AllocatorFile& file, bool by_plan) {
  Allocator allocator = {.path = module.path, .build_id = module.build_id, .functions = {}};
  for (const AllocatorFunction& function : file.functions) {
    std::vector<std::string> names = function.names;
    std::sort(names.begin(), names.end(), is_plainer);
    allocator.functions.push_back({.name = names.front(),
                                   .aliases = {names.begin() + 1, names.end()},
                                   .file_offset = function.entry_offset,
                                   .probe_offset = function.probe_offset,
                                   .instruction = function.instruction,
                                   .single_stepped = function.single_stepped,
                                   .points = describe_points(function.yields),
                                   .points_fallback = by_plan ? function.yields.fallback : std::string()});
  }
  return allocator;
}

/// What most calls run into: those that a plan leaves to the kernel's return probe are few.
CallTraps traps_of(const AllocatorFunction& function) {
  const bool returns = function.kind != HAWK_CALL_FREE && !has_plan(function);
  return {.stepped_entry = function.single_stepped && has_entry_probe(function),
          .kernel_return = has_return_probe(function) && !has_plan(function),
          .stepped_return = returns && function.may_throw && function.return_points.empty(),
          .emulated_return = !function.return_points.empty() || function.yields.opens_at_entry};
}

std::uint64_t cost_of(const CallTraps& traps, const ProbeCosts& costs) {
  std::uint64_t cost_ns = traps.stepped_entry ? costs.stepped_ns : costs.emulated_ns;
  if (traps.kernel_return) cost_ns += costs.return_ns;
  if (traps.stepped_return) cost_ns += costs.stepped_ns;
  if (traps.emulated_return) cost_ns += costs.emulated_ns;
  return cost_ns;
}

std::uint64_t cost_of(const ProbedPoint& point, const ProbeCosts& costs) {
  if (point.shows == PointShows::kReturnProbe) return costs.emulated_ns + costs.return_ns;
  return point.single_stepped ? costs.stepped_ns : costs.emulated_ns;
}

}  // namespace hawk
