#include "userspace/analysis/diff_flame_graph.h"

#include <fmt/core.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "userspace/analysis/stack_diff.h"
#include "userspace/base/printable.h"
#include "userspace/report/units.h"
#include "userspace/report/verdict.h"
#include "userspace/views/view_notes.h"

namespace hawk {
namespace {

/// "shop (pid 42), traced for 10.0 s: exact"
std::string state_text(const Snapshot& snapshot) {
  return fmt::format("{}, traced for {}: {}", processes_text(snapshot), format_duration(snapshot.trace.duration_ns),
                     verdict(snapshot, NumberStyle::kReadable).text);
}

/// Puts the stacks of both states into one tree.
class Merger {
 public:
  explicit Merger(FlameGraph& graph) : graph_(graph) {}

  void add(const ExportedStacks& stacks, bool is_before) {
    numbers_of_calls_.assign(stacks.call_count(), kUnknown);
    for (const StackRecord* record : stacks.records()) {
      const CallTree::Node node = node_of(stacks, stacks.calls(*record));
      graph_.before.resize(graph_.tree.size());
      Counters& sum = is_before ? graph_.before[static_cast<std::size_t>(node)] : graph_.tree.at(node).own;
      sum += record->counters;
    }
    graph_.before.resize(graph_.tree.size());
  }

 private:
  static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

  CallTree::Node node_of(const ExportedStacks& stacks, const FrameList& calls) {
    CallTree::Node node = CallTree::kRoot;
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      node = graph_.tree.below(node, number_of(stacks, **call));
    }
    return node;
  }

  std::uint32_t number_of(const ExportedStacks& stacks, const ListedFrame& call) {
    std::uint32_t& number = numbers_of_calls_[stacks.number_of(call)];
    if (number != kUnknown) return number;
    ComparedCall compared = compared_call(stacks, call);
    std::string name = compared.function;
    const auto [entry, is_new] = numbers_.emplace(std::move(compared), static_cast<std::uint32_t>(graph_.names.size()));
    if (is_new) graph_.names.push_back(std::move(name));
    return number = entry->second;
  }

  FlameGraph& graph_;
  std::map<ComparedCall, std::uint32_t> numbers_;
  std::vector<std::uint32_t> numbers_of_calls_;  ///< of the state that is added, by its own numbers
};

}  // namespace

FlameGraph diff_flame_graph(const ExportedStacks& before, const ExportedStacks& after, SortKey sort,
                            const FrameFilter& filter) {
  const std::string narrowing = narrowing_text(filter);
  FlameGraph graph = {.title = printable_unicode(fmt::format(
                          "hawktrace {}: from {} to {}{}{}", HAWKTRACE_VERSION, state_text(before.snapshot()),
                          state_text(after.snapshot()), narrowing.empty() ? "" : "; ", narrowing)),
                      .sort = sort,
                      .names = {},
                      .tree = {}};
  Merger merger(graph);
  merger.add(before, true);
  merger.add(after, false);
  return graph;
}

}  // namespace hawk
