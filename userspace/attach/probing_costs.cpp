// What calls pay for the probes, and where they are seen.
#include "userspace/attach/probing.h"

namespace hawk {

void Probing::set_costs(const ProbeCosts& costs) {
  for (std::size_t i = 0; i < allocators_.size(); ++i) {
    for (std::size_t j = 0; j < traps_[i].size(); ++j) {
      allocators_[i].functions[j].cost_ns = cost_of(traps_[i][j], costs);
      for (ProbedPoint& point : allocators_[i].functions[j].points) point.cost_ns = cost_of(point, costs);
    }
  }
}

std::optional<std::uint64_t> Probing::hits_at(std::uint64_t file_offset, const Planned& planned) const {
  std::optional<std::uint64_t> sum;
  for (const YieldPoint& point : planned.points) {
    if (point.file_offset != file_offset) continue;
    if (const std::optional<std::uint64_t> hits = tracer_.hits_of(point, planned.kind)) sum = sum.value_or(0) + *hits;
  }
  return sum;
}

void Probing::count_calls_at_points() {
  if (!breakpoints_ || !tracer_.follows_plans()) return;  // what was known when the tracer went is all there is
  for (std::size_t i = 0; i < allocators_.size(); ++i) {
    for (std::size_t j = 0; j < planned_[i].size(); ++j) {
      ProbedFunction& function = allocators_[i].functions[j];
      for (ProbedPoint& point : function.points) point.calls = hits_at(point.file_offset, planned_[i][j]);
    }
  }
}

}  // namespace hawk
