#include "userspace/serving/heap_period.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/tables/fingerprint.h"

namespace hawk {
namespace {

/// One execution of one program by one process.
using Execution = std::tuple<int, std::uint64_t, std::uint64_t>;  // pid, start of the trace, number of execs

/// By TargetId.
std::vector<Execution> executions(const Snapshot& snapshot) {
  if (snapshot.parts.empty()) {
    return {{snapshot.target().pid, snapshot.trace.start_unix_ns, snapshot.trace.exec_count}};
  }
  std::vector<Execution> all;
  for (std::size_t i = 0; i < snapshot.parts.size(); ++i) {
    const TargetPart& part = snapshot.parts[i];
    all.emplace_back(snapshot.targets[i].pid, part.start_unix_ns, part.exec_count);
  }
  return all;
}

using StackKey = std::pair<Execution, std::uint64_t>;  // and the fingerprint

/// Calls `visit` with each stack, who has what of it, and the key of that.
template <class Stacks, class Shares, class Visit>
void for_each_share(const Snapshot& snapshot, Stacks& stacks, Shares& shares, const Visit& visit) {
  const Fingerprints fingerprints(snapshot);
  const std::vector<Execution> of_target = executions(snapshot);
  auto share = shares.begin();
  for (auto& stack : stacks) {
    const std::uint64_t fingerprint = fingerprints.of(stack);
    if (snapshot.parts.empty()) {
      visit(StackKey(of_target.front(), fingerprint), stack.counters, TargetId{});
      continue;
    }
    Counters sum;
    for (; share != shares.end() && share->stack == stack.id; ++share) {
      visit(StackKey(of_target[static_cast<std::size_t>(share->target)], fingerprint), share->counters, share->target);
      sum += share->counters;
    }
    if constexpr (!std::is_const_v<std::remove_reference_t<decltype(stack)>>) stack.counters = sum;
  }
}

/// Takes of `value` as much as `known` says is older. Stacks with one key may have been several.
void take_older(std::uint64_t& value, std::uint64_t& known) {
  const std::uint64_t older = std::min(value, known);
  value -= older;
  known -= older;
}

}  // namespace

Snapshot heap_of_period(const Snapshot& before, const Snapshot& after, PeriodNumbers numbers) {
  std::map<StackKey, Counters> known;
  for_each_share(before, before.stacks, before.shares,
                 [&known](const StackKey& key, const Counters& counters, TargetId) { known[key] += counters; });

  Snapshot period = after;
  period.totals = {};
  for (TargetPart& part : period.parts) part.totals = {};
  const auto narrow_down = [&](const StackKey& key, Counters& counters, TargetId target) {
    const std::uint64_t live_bytes = counters.live_bytes();
    const std::uint64_t live_count = counters.live_count();
    if (const auto older = known.find(key); older != known.end()) {
      take_older(counters.allocated_bytes, older->second.allocated_bytes);
      take_older(counters.allocated_count, older->second.allocated_count);
      take_older(counters.freed_bytes, older->second.freed_bytes);
      take_older(counters.freed_count, older->second.freed_count);
    }
    if (numbers == PeriodNumbers::kLiveAtEnd) {
      counters.freed_bytes = counters.allocated_bytes - live_bytes;
      counters.freed_count = counters.allocated_count - live_count;
    }
    period.totals += counters;
    if (!period.parts.empty()) period.parts[static_cast<std::size_t>(target)].totals += counters;
  };
  for_each_share(after, period.stacks, period.shares, narrow_down);
  std::erase_if(period.stacks, [](const StackRecord& stack) { return stack.counters == Counters(); });
  std::erase_if(period.shares, [](const StackShare& share) { return share.counters == Counters(); });

  const std::uint64_t begin = before.trace.start_unix_ns + before.trace.duration_ns;
  const std::uint64_t end = after.trace.start_unix_ns + after.trace.duration_ns;
  period.trace.start_unix_ns = begin;
  period.trace.duration_ns = end > begin ? end - begin : 0;
  return period;
}

}  // namespace hawk
