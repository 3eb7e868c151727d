#pragma once

#include "userspace/export/exported_stacks.h"
#include "userspace/export/flame_graph.h"

namespace hawk {

/// The difference of two snapshots as a flame graph: all stacks of both, with stacks of the same calls merged,
/// by the names of functions and modules as in diff_of(). `sort`: the number shown first; `filter`: applied to
/// both.
FlameGraph diff_flame_graph(const ExportedStacks& before, const ExportedStacks& after, SortKey sort,
                            const FrameFilter& filter = {});

}  // namespace hawk
