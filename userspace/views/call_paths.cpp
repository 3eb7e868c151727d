#include "userspace/views/call_paths.h"

#include <algorithm>
#include <tuple>

namespace hawk {
namespace {

// What stands for missing calls, as numbers of calls; functions follow.
constexpr std::uint32_t kNoCalls = 0;
constexpr std::uint32_t kTruncated = 1;
constexpr std::uint32_t kFirstFunction = 2;

/// Appends a stack's calls as numbers, the innermost first.
void append_path(std::vector<std::uint32_t>& path, const StackRecord& stack, const CallTable& calls, bool with_folded) {
  const FrameList frames = calls.list(stack);
  if (frames.empty()) {
    path.push_back(kNoCalls);
    return;
  }
  const std::vector<bool> hidden = with_folded ? std::vector<bool>(frames.size()) : hidden_frames(frames);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!hidden[i]) path.push_back(kFirstFunction + frames[i]->function_number);
  }
  if (stack.quality() == HAWK_STACK_TRUNCATED) path.push_back(kTruncated);
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

}  // namespace

CallPaths::CallPaths(const Snapshot& snapshot, const StackView& view, const CallTable& calls, const Grouping& grouping,
                     bool with_folded)
    : snapshot_(snapshot), calls_(calls_by_function(calls)) {
  if (const std::optional<GroupKind> kind = grouping.split_by()) groups_.emplace(snapshot, *kind);
  const TreeDirection direction = grouping.tree.value_or(TreeDirection::kTopDown);
  paths_.reserve(view.stacks.size());
  counters_.reserve(view.stacks.size());
  if (!groups_) {
    for (const StackRecord* stack : view.stacks) add_path(*stack, calls, direction, with_folded, std::nullopt);
    return;
  }
  for (const GroupedStack& part : split_by_group(view.stacks, snapshot, *groups_)) {
    add_path(part.stack, calls, direction, with_folded, part.group);
  }
}

void CallPaths::add_path(const StackRecord& stack, const CallTable& calls, TreeDirection direction, bool with_folded,
                         std::optional<std::size_t> group) {
  const std::size_t first = path_calls_.size();
  if (group) path_calls_.push_back(static_cast<std::uint32_t>(calls_.size() + *group));
  const auto begin = static_cast<std::ptrdiff_t>(path_calls_.size());
  append_path(path_calls_, stack, calls, with_folded);
  if (direction == TreeDirection::kTopDown) std::reverse(path_calls_.begin() + begin, path_calls_.end());
  paths_.push_back({.first = first,
                    .size = static_cast<std::uint32_t>(path_calls_.size() - first),
                    .stack = static_cast<std::uint32_t>(counters_.size())});
  counters_.push_back(stack.counters);
}

CallPaths::Node CallPaths::root() const { return {.end = paths_.size()}; }

/// Puts paths of the same call at `depth` together, in the order of the stacks; those that are no longer come first.
void CallPaths::group_by_call(std::size_t begin, std::size_t end, std::uint32_t depth) {
  const auto key = [&](const Path& path) {
    return std::make_tuple(path.size > depth ? std::uint64_t{call_at(path, depth)} + 1 : 0, path.stack);
  };
  const auto is_before = [&](const Path& a, const Path& b) { return key(a) < key(b); };
  const auto first = paths_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = paths_.begin() + static_cast<std::ptrdiff_t>(end);
  // From the outermost function on all stacks have the same calls for long.
  if (!std::is_sorted(first, last, is_before)) std::sort(first, last, is_before);
}

std::vector<CallPaths::Node> CallPaths::below(const Node& node, SortKey sort) {
  group_by_call(node.begin, node.end, node.depth);
  std::vector<Node> nodes;
  for (std::size_t i = node.begin; i < node.end; ++i) {
    const Path& path = paths_[i];
    if (path.size <= node.depth) continue;  // ends at `node`
    const std::uint32_t call = call_at(path, node.depth);
    if (nodes.empty() || nodes.back().call != call)
      nodes.push_back({.call = call, .depth = node.depth + 1, .begin = i});
    nodes.back().end = i + 1;
    const Counters& counters = counters_[path.stack];
    nodes.back().all += counters;
    if (path.size == node.depth + 1) nodes.back().own += counters;
  }
  std::sort(nodes.begin(), nodes.end(), [&](const Node& a, const Node& b) {
    const std::uint64_t of_a = sort_value(a.all, sort);
    const std::uint64_t of_b = sort_value(b.all, sort);
    return of_a != of_b ? of_a > of_b : paths_[a.begin].stack < paths_[b.begin].stack;
  });
  return nodes;
}

std::string CallPaths::name_of(const Node& node, bool short_names) const {
  if (const ListedFrame* const call = call_of(node)) {
    return short_names ? call->name : frame_name(call->location, call->source, snapshot_);
  }
  if (node.call >= calls_.size()) return groups_->name(node.call - calls_.size());
  return node.call == kNoCalls ? "[no stack]" : "[truncated stack]";
}

}  // namespace hawk
