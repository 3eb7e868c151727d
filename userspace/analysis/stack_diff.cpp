#include "userspace/analysis/stack_diff.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hawk {
namespace {

using Calls = std::vector<ComparedCall>;
using Compared = std::map<Calls, StackChange>;

Calls calls_of(const ExportedStacks& stacks, const StackRecord& stack) {
  Calls calls;
  for (const ListedFrame* call : stacks.calls(stack)) calls.push_back(compared_call(stacks, *call));
  return calls;
}

void add(Compared& compared, const ExportedStacks& stacks, Counters StackChange::*side) {
  for (const StackRecord* record : stacks.records()) {
    StackChange& change = compared[calls_of(stacks, *record)];
    change.*side += record->counters;
  }
}

std::uint64_t size_of_change(const StackChange& change, SortKey key) {
  const std::int64_t difference = change_of(sort_value(change.before, key), sort_value(change.after, key));
  return difference < 0 ? 0 - static_cast<std::uint64_t>(difference) : static_cast<std::uint64_t>(difference);
}

/// As for --min-size: by bytes, independently of the sort key.
std::uint64_t changed_bytes(const StackChange& change, SortKey key) {
  const bool is_allocated = key == SortKey::kAllocated || key == SortKey::kAllocatedCount;
  return size_of_change(change, is_allocated ? SortKey::kAllocated : SortKey::kLive);
}

}  // namespace

ComparedCall compared_call(const ExportedStacks& stacks, const ListedFrame& call) {
  ComparedCall compared = {.function = stacks.name_of(call), .module = {}};
  if (const auto& module = call.location.module; module && !stacks.is_placeholder(call)) {
    compared.module = file_name(stacks.snapshot().modules[static_cast<std::size_t>(*module)].path);
  }
  return compared;
}

std::int64_t change_of(std::uint64_t before, std::uint64_t after) { return static_cast<std::int64_t>(after - before); }

SnapshotDiff diff_of(const ExportedStacks& before, const ExportedStacks& after, const Selection& selection,
                     const FrameFilter& filter) {
  Compared compared;
  add(compared, before, &StackChange::before);
  add(compared, after, &StackChange::after);
  SnapshotDiff diff = {.before = before.snapshot(), .after = after.snapshot(), .changes = {}, .sort = selection.sort};
  diff.filter = filter;
  diff.compared_before = before.totals();
  diff.compared_after = after.totals();
  for (auto& [calls, change] : compared) {
    if (size_of_change(change, selection.sort) == 0) continue;
    ++diff.changed;
    if (changed_bytes(change, selection.sort) < selection.min_size_bytes) continue;
    change.calls = calls;
    diff.changes.push_back(std::move(change));
  }
  std::stable_sort(diff.changes.begin(), diff.changes.end(), [&](const StackChange& a, const StackChange& b) {
    return size_of_change(a, selection.sort) > size_of_change(b, selection.sort);
  });
  if (selection.top != 0 && diff.changes.size() > selection.top) diff.changes.resize(selection.top);
  return diff;
}

}  // namespace hawk
