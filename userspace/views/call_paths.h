#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/selection.h"
#include "userspace/views/call_tree.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// The stacks of a report as a tree of functions: each node stands for all stacks that have the calls from its root to
/// it in common. `own` of a node is of the stacks that end there: with roots at the outermost calls, those whose
/// innermost call it is.
class CallPaths {
 public:
  using Node = CallTree::Node;

  /// Calls that reports have no line for do not count, unless `with_folded`. `calls` must outlive this.
  CallPaths(const StackView& view, const CallTable& calls, TreeDirection direction, bool with_folded);

  const CallTree::Entry& at(Node node) const { return tree_.at(node); }
  /// All nodes but the root, which stands for no call.
  std::size_t size() const { return tree_.size() - 1; }
  /// One of the calls of a node; nullptr: it stands for what is missing of stacks.
  const ListedFrame* call_of(Node node) const { return calls_[at(node).call]; }
  /// The nodes below `node`, the largest first.
  std::vector<Node> below(Node node, SortKey sort) const;
  /// The function's name, or "[no stack]", "[truncated stack]".
  std::string name_of(Node node, const Snapshot& snapshot, bool short_names) const;

 private:
  CallTree tree_;
  std::vector<const ListedFrame*> calls_;  ///< by CallTree::Entry::call
  CallTree::Children children_;
};

}  // namespace hawk
