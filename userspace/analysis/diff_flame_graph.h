#pragma once

#include "userspace/export/exported_stacks.h"
#include "userspace/export/flame_graph.h"

namespace hawk {

/// The difference of two snapshots as a flame graph: all stacks of both, those of the same calls as one, by the names
/// of functions and modules as diff_of() has it. `sort`: what is shown first;
/// `filter`: what both are narrowed down by.
FlameGraph diff_flame_graph(const ExportedStacks& before, const ExportedStacks& after, SortKey sort,
                            const FrameFilter& filter = {});

}  // namespace hawk
