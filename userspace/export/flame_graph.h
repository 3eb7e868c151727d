#pragma once

#include <string>
#include <vector>

#include "userspace/report/text_sink.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/selection.h"
#include "userspace/views/call_tree.h"

namespace hawk {

/// What the page of a flame graph shows: of one state, or what has changed from one to another.
struct FlameGraph {
  std::string title;
  SortKey sort = SortKey::kLive;      ///< shown first
  std::vector<std::string> names;     ///< of calls, by their number in the tree; safe as ExportedStacks makes them
  CallTree tree;                      ///< its nodes' own counters: of stacks that end there
  std::vector<Counters> before = {};  ///< of a difference, by node: the same of the state before; else empty
};

/// Writes a page by itself, which loads nothing.
void write_flame_graph_page(const FlameGraph& graph, const TextSink& sink);

}  // namespace hawk
