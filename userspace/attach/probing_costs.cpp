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

void Probing::count_calls_at_points() {
  if (!breakpoints_ || !tracer_.follows_plans()) return;  // what was known when the tracer went is all there is
  for (std::size_t i = 0; i < allocators_.size(); ++i) {
    for (std::size_t j = 0; j < planned_[i].size(); ++j) {
      ProbedFunction& function = allocators_[i].functions[j];
      for (std::size_t k = 0; k < function.points.size(); ++k)
        function.points[k].calls = tracer_.hits_of(planned_[i][j].points[k], planned_[i][j].kind);
    }
  }
}

}  // namespace hawk
