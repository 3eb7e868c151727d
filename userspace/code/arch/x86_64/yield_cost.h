#pragma once

#include "userspace/code/arch/x86_64/code_graph.h"
#include "userspace/code/yield_plan.h"

namespace hawk {

/// How many points a call runs into at least that gets its block from the function itself; a single-stepped one counts
/// twice. 0: by all paths another function returns it.
unsigned fewest_traps(const CodeGraph& graph, const YieldPlan& plan);

}  // namespace hawk
