#include "userspace/views/stack_view.h"

#include <algorithm>

namespace hawk {
namespace {

/// What a filter says of a call. It is asked once for each, however many stacks pass through it.
struct CallAnswer {
  bool is_focused = false;
  bool is_ignored = false;
  bool is_hidden = false;
  std::optional<std::size_t> rule;
};

CallAnswer answer_for(const ListedFrame& call, const Snapshot& snapshot, const FrameFilter& filter) {
  CallAnswer answer;
  answer.is_focused = filter.focus && filter.focus->matches(call, snapshot);
  answer.is_ignored = filter.ignore && filter.ignore->matches(call, snapshot);
  answer.is_hidden = filter.hide && filter.hide->matches(call, snapshot);
  if (filter.suppressions != nullptr) answer.rule = filter.suppressions->rule_of(call, snapshot);
  return answer;
}

/// What a filter says of the calls of a stack together.
struct StackAnswer {
  bool is_focused = false;
  bool is_ignored = false;
  bool is_hidden = true;
  std::optional<std::size_t> rule;  ///< the first in the file's order

  void add(const CallAnswer& call) {
    is_focused = is_focused || call.is_focused;
    is_ignored = is_ignored || call.is_ignored;
    is_hidden = is_hidden && call.is_hidden;
    if (call.rule && (!rule || *call.rule < *rule)) rule = call.rule;
  }
};

StackView view_of_all(const Snapshot& snapshot) {
  StackView view;
  view.stacks.reserve(snapshot.stacks.size());
  for (const StackRecord& stack : snapshot.stacks) view.stacks.push_back(&stack);
  view.shown = {.stacks = snapshot.stacks.size(), .counters = snapshot.totals};
  return view;
}

}  // namespace

CallPredicate FrameFilter::hides(const Snapshot& snapshot) const {
  if (!hide) return {};
  return [this, &snapshot](const ListedFrame& call) { return hide->matches(call, snapshot); };
}

StackView make_stack_view(const Snapshot& snapshot, Symbolizer& symbolizer, const FrameFilter& filter,
                          const LocationCountObserver& observer) {
  StackView all = view_of_all(snapshot);
  if (filter.is_empty()) return all;
  const CallTable calls(snapshot, all.stacks, symbolizer, {}, observer);
  std::vector<CallAnswer> answers;
  answers.reserve(calls.size());
  for (const ListedFrame& call : calls.calls()) answers.push_back(answer_for(call, snapshot, filter));
  StackView view;
  if (filter.suppressions != nullptr) view.by_rule.resize(filter.suppressions->rules.size());
  for (const StackRecord* stack : all.stacks) {
    StackAnswer answer;
    for (const ListedFrame* call : calls.list(*stack)) answer.add(answers[calls.number_of(*call)]);
    const bool is_hidden = answer.is_hidden && !stack->frames.empty();
    if (answer.rule) {
      view.suppressed.add(*stack);
      view.by_rule[*answer.rule].add(*stack);
    } else if ((filter.focus && !answer.is_focused) || answer.is_ignored || is_hidden) {
      view.left_out.add(*stack);
    } else {
      view.stacks.push_back(stack);
      view.shown.add(*stack);
    }
  }
  return view;
}

}  // namespace hawk
