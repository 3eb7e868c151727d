#include "userspace/serving/top_stacks.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "symbolizer/frame_role.h"
#include "userspace/report/call_table.h"
#include "userspace/tables/fingerprint.h"
#include "userspace/tables/selection.h"

namespace hawk {

std::vector<TopStack> top_stacks_of(const Snapshot& snapshot, Symbolizer& symbolizer, std::size_t count) {
  const Fingerprints fingerprints(snapshot);
  std::unordered_map<std::uint64_t, std::size_t> index_of;
  std::vector<Counters> sums;
  std::vector<const StackRecord*> firsts;
  for (const StackRecord& stack : snapshot.stacks) {
    const auto [entry, is_new] = index_of.emplace(fingerprints.of(stack), sums.size());
    if (is_new) {
      sums.emplace_back();
      firsts.push_back(&stack);
    }
    sums[entry->second] += stack.counters;
  }
  std::vector<const StackRecord*> top = firsts;
  keep_top(
      top, [&](const StackRecord& stack) { return sums[index_of.at(fingerprints.of(stack))].live_bytes(); }, count);
  const CallTable calls(snapshot, top, symbolizer, frame_role);
  std::vector<TopStack> stacks;
  for (const StackRecord* stack : top) {
    const std::uint64_t fingerprint = fingerprints.of(*stack);
    stacks.push_back({.fingerprint = fmt::format("{:016x}", fingerprint),
                      .function = stack->id == kNoStack ? "[no stack]" : stack_label(calls.list(*stack)),
                      .counters = sums[index_of.at(fingerprint)]});
  }
  return stacks;
}

}  // namespace hawk
