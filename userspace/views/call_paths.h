#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/frame_list.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/selection.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"
#include "userspace/views/target_groups.h"

namespace hawk {

/// The stacks of a report as a tree of functions: each node stands for all stacks that have the calls from its root to
/// it in common. Nodes are made when they are asked for: of the millions that a hundred thousand stacks have, a report
/// shows a few.
class CallPaths {
 public:
  struct Node {
    Counters all = {};       ///< of the stacks that pass through it or end there
    Counters own = {};       ///< of those that end there: with roots at the outermost calls, whose innermost call it is
    std::uint32_t call = 0;  ///< of the function that it adds
    std::uint32_t depth = 0;  ///< of the root, which stands for no call: 0
    std::size_t begin = 0;    ///< of its stacks, among those of its caller
    std::size_t end = 0;
  };

  /// Calls that reports have no line for do not count, unless `with_folded`. `snapshot`, of which `view` is, and
  /// `calls` must outlive this. With Grouping::split_by() the nodes below the root are of processes.
  CallPaths(const Snapshot& snapshot, const StackView& view, const CallTable& calls, const Grouping& grouping,
            bool with_folded);

  Node root() const;
  /// The nodes below `node`, the largest first.
  std::vector<Node> below(const Node& node, SortKey sort);
  /// One of the calls of a node; nullptr: it stands for processes, or for what is missing of stacks.
  const ListedFrame* call_of(const Node& node) const { return node.call < calls_.size() ? calls_[node.call] : nullptr; }
  /// The function's name, or "[no stack]", "[truncated stack]"; that of the processes.
  std::string name_of(const Node& node, bool short_names) const;

 private:
  /// A stack's calls, from the root on.
  struct Path {
    std::size_t first = 0;  ///< in path_calls_
    std::uint32_t size = 0;
    std::uint32_t stack = 0;  ///< in counters_
  };
  void add_path(const StackRecord& stack, const CallTable& calls, TreeDirection direction, bool with_folded,
                std::optional<std::size_t> group);
  std::uint32_t call_at(const Path& path, std::uint32_t depth) const { return path_calls_[path.first + depth]; }
  void group_by_call(std::size_t begin, std::size_t end, std::uint32_t depth);

  const Snapshot& snapshot_;
  std::optional<TargetGroups> groups_;
  std::vector<const ListedFrame*> calls_;  ///< by Node::call; groups of processes are behind them
  std::vector<Counters> counters_;         ///< of stacks
  std::vector<std::uint32_t> path_calls_;
  std::vector<Path> paths_;  ///< those of a node stand together
};

}  // namespace hawk
