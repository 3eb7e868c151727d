#include "userspace/screen/stack_order.h"

#include <algorithm>
#include <unordered_set>

#include "userspace/report/call_table.h"
#include "userspace/tables/selection.h"

namespace hawk {
void StackOrder::forget() {
  order_.clear();
  labels_.clear();
  size_ = 0;
}

/// With what they are sorted by, so that the stacks are gone through once: they may be megabytes. `wanted`: see
/// LeadingStacks.
LeadingStacks StackOrder::members(const Moment& moment, ScreenSort sort, std::size_t wanted) const {
  const bool is_difference = sort == ScreenSort::kChange || sort == ScreenSort::kRate;
  const Quantity quantity = quantity_of(sort);
  LeadingStacks members(wanted);
  for (const StackRecord& stack : moment.now.stacks) {
    if (bytes_of(stack.counters, quantity) < min_size_bytes_ || !is_listed(stack.counters, sort)) continue;
    const Counters* const before = is_difference ? moment.counters_before(stack.id) : nullptr;
    members.add({.value = sort_value(stack.counters, before, sort), .stack = &stack});
  }
  return members;
}

void StackOrder::know_labels(const std::vector<const StackRecord*>& stacks, const Snapshot& now,
                             Symbolizer& symbolizer) {
  std::vector<const StackRecord*> unknown;
  std::copy_if(stacks.begin(), stacks.end(), std::back_inserter(unknown),
               [&](const StackRecord* stack) { return labels_.count(stack->id) == 0; });
  if (unknown.empty()) return;
  const CallTable calls(now, unknown, symbolizer, role_of_);
  for (const StackRecord* stack : unknown) {
    const ListedFrame* const naming = calls.naming(*stack);
    labels_[stack->id] = naming == nullptr ? "" : naming->name;
  }
}

std::vector<const StackRecord*> StackOrder::sorted(std::vector<ValuedStack> members, const Moment& moment,
                                                   Symbolizer& symbolizer, ScreenSort sort, std::size_t wanted) {
  std::vector<const StackRecord*> stacks;
  if (sort != ScreenSort::kFunction) {
    keep_top(std::move(members), stacks, wanted);
    return stacks;
  }
  for (const ValuedStack& member : members) stacks.push_back(member.stack);
  know_labels(stacks, moment.now, symbolizer);
  std::sort(stacks.begin(), stacks.end(), [&](const StackRecord* a, const StackRecord* b) {
    const int order = labels_.at(a->id).compare(labels_.at(b->id));
    return order != 0 ? order < 0 : a->counters.live_bytes() > b->counters.live_bytes();
  });
  if (wanted != 0 && wanted < stacks.size()) stacks.resize(wanted);
  return stacks;
}

/// `stacks` in the order in which they stand in the list; those that are new to it behind, in their own order. What
/// stands in the list stays there, also when it would not come into it now.
void StackOrder::keep_ranks(std::vector<const StackRecord*>& stacks, const Snapshot& now) {
  std::vector<const StackRecord*> kept;
  for (const StackId id : order_) {
    if (const StackRecord* stack = find_stack(now, id)) kept.push_back(stack);
  }
  const std::unordered_set<StackId> listed(order_.begin(), order_.end());
  std::copy_if(stacks.begin(), stacks.end(), std::back_inserter(kept),
               [&](const StackRecord* stack) { return listed.count(stack->id) == 0; });
  stacks = std::move(kept);
}

void StackOrder::update(const Moment& moment, Symbolizer& symbolizer, StackFilter& filter, ScreenSort sort, bool held,
                        std::size_t wanted) {
  const std::size_t most = held ? 0 : std::max<std::size_t>(1, wanted);
  // By name, and by the filter, any of them may be wanted.
  const bool is_by_value = sort != ScreenSort::kFunction && filter.pattern().empty();
  LeadingStacks all = members(moment, sort, is_by_value ? most : 0);
  std::vector<ValuedStack> listed = all.take();
  filter.apply(listed, moment.now, symbolizer);
  size_ = is_by_value ? all.added() : listed.size();
  std::vector<const StackRecord*> stacks = sorted(std::move(listed), moment, symbolizer, sort, most);
  if (held) {
    keep_ranks(stacks, moment.now);
    size_ = stacks.size();
  }
  if (top_ != 0) size_ = std::min(size_, top_);
  if (stacks.size() > size_) stacks.resize(size_);
  order_.clear();
  for (const StackRecord* stack : stacks) order_.push_back(stack->id);
}

}  // namespace hawk
