#pragma once

#include <string>

#include "userspace/report/call_table.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/selection.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// What became of a snapshot's stacks, as an object: the patterns of `filter` (null: none), and the stacks and counters
/// "shown", "left_out" and "suppressed", the last also for each of the "rules", those that matched nothing among them.
std::string view_json(const StackView& view, const FrameFilter& filter);

/// What is summed up, and how.
struct JsonGrouping {
  const Snapshot& snapshot;
  const StackView& view;
  const CallTable& calls;
  const Selection& selection;
  const Grouping& grouping;
  bool with_folded = false;
};

/// Appends the key "groups" to `piece`, unless stacks are what rows stand for, and hands on what has become long
/// enough. False: there is no reader any more. A row has a "name" and what that is made of, as far as calls of the
/// group have it in common: "function", "caller", "file", "line", "module". "self" are the counters of the stacks whose
/// innermost call is of the group, "cumulative" those of all stacks with a call of it, "stacks" how many these are.
bool write_groups(const JsonGrouping& grouping, std::string& piece, const TextSink& sink);

/// The same for the key "tree". Its nodes come callers first (callees first, in a tree from the bottom up); "parent" is
/// the number of another one in the list, counted from 0, or null. "total" are the counters of all stacks that have the
/// calls from the root to the node in common, "self" those of the ones that end there.
bool write_tree(const JsonGrouping& grouping, std::string& piece, const TextSink& sink);

}  // namespace hawk
