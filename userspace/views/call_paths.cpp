#include "userspace/views/call_paths.h"

#include <algorithm>

namespace hawk {
namespace {

// What stands for missing calls, as numbers of the tree; functions follow.
constexpr std::uint32_t kNoCalls = 0;
constexpr std::uint32_t kTruncated = 1;
constexpr std::uint32_t kFirstFunction = 2;

/// A stack as numbers, the innermost call first.
std::vector<std::uint32_t> path_of(const StackRecord& stack, const CallTable& calls, bool with_folded) {
  const FrameList frames = calls.list(stack);
  if (frames.empty()) return {kNoCalls};
  const std::vector<bool> hidden = with_folded ? std::vector<bool>(frames.size()) : hidden_frames(frames);
  std::vector<std::uint32_t> path;
  path.reserve(frames.size() + 1);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!hidden[i]) path.push_back(kFirstFunction + frames[i]->function_number);
  }
  if (stack.quality() == HAWK_STACK_TRUNCATED) path.push_back(kTruncated);
  return path;
}

std::vector<const ListedFrame*> calls_by_function(const CallTable& calls) {
  std::vector<const ListedFrame*> by_function(kFirstFunction);
  for (const ListedFrame& call : calls.calls()) {
    const std::size_t number = kFirstFunction + call.function_number;
    if (number >= by_function.size()) by_function.resize(number + 1);
    if (by_function[number] == nullptr) by_function[number] = &call;
  }
  return by_function;
}

CallTree tree_of(const StackView& view, const CallTable& calls, TreeDirection direction, bool with_folded) {
  CallTree tree;
  for (const StackRecord* stack : view.stacks) {
    std::vector<std::uint32_t> path = path_of(*stack, calls, with_folded);
    if (direction == TreeDirection::kTopDown) std::reverse(path.begin(), path.end());
    CallTree::Node node = CallTree::kRoot;
    for (const std::uint32_t call : path) node = tree.below(node, call);
    tree.at(node).own += stack->counters;
  }
  tree.sum_up();
  return tree;
}

}  // namespace

CallPaths::CallPaths(const StackView& view, const CallTable& calls, TreeDirection direction, bool with_folded)
    : tree_(tree_of(view, calls, direction, with_folded)), calls_(calls_by_function(calls)), children_(tree_) {}

std::vector<CallPaths::Node> CallPaths::below(Node node, SortKey sort) const {
  std::vector<Node> nodes = children_.of(node);
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](Node a, Node b) { return sort_value(at(a).all, sort) > sort_value(at(b).all, sort); });
  return nodes;
}

std::string CallPaths::name_of(Node node, const Snapshot& snapshot, bool short_names) const {
  if (const ListedFrame* const call = call_of(node)) {
    return short_names ? call->name : frame_name(call->location, call->source, snapshot);
  }
  return at(node).call == kNoCalls ? "[no stack]" : "[truncated stack]";
}

}  // namespace hawk
