#pragma once

#include <cstddef>
#include <vector>

#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// Whether every path to a `ret` comes by a point of `plan` at which the call ends, and none to one of `exits`, from
/// where another function goes on, without.
bool sees_every_return(const CodeGraph& graph, const YieldPlan& plan, const std::vector<std::size_t>& exits);

}  // namespace hawk
