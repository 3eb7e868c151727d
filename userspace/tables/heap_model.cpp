#include "userspace/tables/heap_model.h"

#include <algorithm>
#include <utility>

namespace hawk {
namespace {

Counters difference(const Counters& now, const Counters& before) {
  return {.allocated_bytes = now.allocated_bytes - before.allocated_bytes,
          .allocated_count = now.allocated_count - before.allocated_count,
          .freed_bytes = now.freed_bytes - before.freed_bytes,
          .freed_count = now.freed_count - before.freed_count};
}

}  // namespace

void HeapModel::start_epoch(std::uint32_t epoch) {
  exec_epoch_ = epoch;
  const auto unknown = stacks_.find(kNoStack);
  if (unknown != stacks_.end()) unknown_before_ += unknown->second.record.counters;
  std::erase_if(stacks_,
                [&](const auto& entry) { return entry.first != kNoStack && entry.second.exec_epoch != epoch; });
  peak_live_bytes_ = 0;
}

void HeapModel::update(const Drained& drained, const FrameResolver& resolve) {
  if (drained.exec_epoch != exec_epoch_) start_epoch(drained.exec_epoch);
  for (const NewStack& added : drained.new_stacks) {
    if (added.id != kNoStack && added.exec_epoch != exec_epoch_) continue;
    StackRecord record = {.id = added.id, .counters = {}, .truncated = added.truncated, .frames = {}};
    record.frames.reserve(added.addresses.size());
    for (const std::uint64_t address : added.addresses) record.frames.push_back(resolve(address));
    stacks_[added.id] = {.exec_epoch = exec_epoch_, .record = std::move(record)};
  }
  totals_ = {};
  for (const StackCounters& read : drained.counters) {
    const auto known = stacks_.find(read.id);
    if (known == stacks_.end()) continue;  // of a program that has been replaced
    Counters& counters = known->second.record.counters;
    counters = read.id == kNoStack ? difference(read.counters, unknown_before_) : read.counters;
    totals_ += counters;
  }
  peak_live_bytes_ = std::max(peak_live_bytes_, totals_.live_bytes());
  frees_of_untraced_ = drained.frees_of_untraced;
  losses_ = drained.losses;
}

Snapshot HeapModel::snapshot() const {
  Snapshot snapshot;
  snapshot.totals = totals_;
  snapshot.peak_live_bytes = peak_live_bytes_;
  snapshot.frees_of_untraced = frees_of_untraced_;
  snapshot.losses = losses_;
  snapshot.stacks.reserve(stacks_.size());
  for (const auto& [id, stack] : stacks_) {
    if (stack.record.counters.allocated_count != 0) snapshot.stacks.push_back(stack.record);
  }
  std::sort(snapshot.stacks.begin(), snapshot.stacks.end(),
            [](const StackRecord& a, const StackRecord& b) { return a.id < b.id; });
  return snapshot;
}

}  // namespace hawk
