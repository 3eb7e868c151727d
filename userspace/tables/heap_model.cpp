#include "userspace/tables/heap_model.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "userspace/tables/word_numbers.h"

namespace hawk {
namespace {

/// Of a stack in a state of the heap nothing is freed that was not allocated. Drains read what was freed later than
/// what was allocated.
Counters bounded(const Counters& read) {
  Counters counters = read;
  counters.freed_bytes = std::min(read.freed_bytes, read.allocated_bytes);
  counters.freed_count = std::min(read.freed_count, read.allocated_count);
  return counters;
}

bool ids_ascend(const StackRecord& a, const StackRecord& b) { return a.id < b.id; }

/// The frame that a word of the kernel's stands for.
Location frame_of(std::uint64_t word, const FrameResolver& resolve) {
  Location frame = resolve(word & ~std::uint64_t{HAWK_FRAME_INTERRUPTED});
  frame.interrupted = (word & HAWK_FRAME_INTERRUPTED) != 0;
  return frame;
}

/// Orders `stacks`, of which the first `known` are in order already. Of two with the same id the later one stays.
void sort_by_id(std::vector<StackRecord>& stacks, std::size_t known) {
  const auto out_of_order = [](const StackRecord& a, const StackRecord& b) { return !ids_ascend(a, b); };
  if (std::adjacent_find(stacks.begin(), stacks.end(), out_of_order) == stacks.end()) return;
  const auto middle = stacks.begin() + static_cast<std::ptrdiff_t>(known);
  std::stable_sort(middle, stacks.end(), ids_ascend);
  std::inplace_merge(stacks.begin(), middle, stacks.end(), ids_ascend);
  const auto same_id = [](const StackRecord& a, const StackRecord& b) { return a.id == b.id; };
  stacks.erase(stacks.begin(), std::unique(stacks.rbegin(), stacks.rend(), same_id).base());
}

}  // namespace

void HeapModel::start_epoch(std::uint32_t epoch) {
  exec_epoch_ = epoch;
  stacks_.clear();
  locations_.clear();
  if (mapped_) mapped_->clear();
  peak_live_bytes_ = 0;
}

StackRecord* HeapModel::find(StackId id) { return const_cast<StackRecord*>(std::as_const(*this).find(id)); }

const StackRecord* HeapModel::find(StackId id) const {
  const auto at = std::lower_bound(stacks_.begin(), stacks_.end(), id,
                                   [](const StackRecord& stack, StackId wanted) { return stack.id < wanted; });
  return at != stacks_.end() && at->id == id ? &*at : nullptr;
}

void HeapModel::add_stacks(const std::vector<NewStack>& added, const FrameResolver& resolve) {
  std::size_t frame_count = 0;
  for (const NewStack& stack : added) frame_count += stack.addresses.size();
  const auto block = std::make_shared<std::vector<LocationId>>();
  block->reserve(frame_count);  // all of it: the stacks point into it
  // For as long as nothing is mapped or unmapped. Words are addresses with the kernel's mark.
  WordNumbers<LocationId> numbers;
  const auto location_of = [&](std::uint64_t word) {
    return numbers.find_or_add(word, [&] { return locations_.number_of(frame_of(word, resolve)); });
  };
  const std::size_t known = stacks_.size();
  if (stacks_.capacity() < known + added.size()) stacks_.reserve(std::max(2 * known, known + added.size()));
  for (const NewStack& stack : added) {
    const std::size_t first = block->size();
    for (const std::uint64_t word : stack.addresses) block->push_back(location_of(word));
    stacks_.push_back({.id = stack.id,
                       .counters = {},
                       .end = stack.end,
                       .guessed = stack.guessed,
                       .frames = StackFrames(block, first, stack.addresses.size())});
  }
  sort_by_id(stacks_, known);
}

void HeapModel::update(const Drained& drained, const FrameResolver& resolve) {
  if (drained.exec_epoch != exec_epoch_) start_epoch(drained.exec_epoch);
  if (!drained.new_stacks.empty()) add_stacks(drained.new_stacks, resolve);
  totals_ = {};
  std::size_t next = 0;
  for (const StackCounters& read : drained.counters) {
    // Both lists ascend, and mostly they hold the same stacks.
    StackRecord* known = next < stacks_.size() && stacks_[next].id == read.id ? &stacks_[next] : find(read.id);
    if (known == nullptr) continue;
    next = static_cast<std::size_t>(known - stacks_.data()) + 1;
    known->counters = bounded(read.counters);
    totals_ += known->counters;
  }
  peak_live_bytes_ = std::max(peak_live_bytes_, totals_.live_bytes());
  frees_of_untraced_ = drained.frees_of_untraced;
  losses_ = drained.losses;
  children_ = drained.children;
}

bool HeapModel::knows(StackId id) const { return find(id) != nullptr; }

void HeapModel::take_mappings(std::vector<MappedGroup> mapped, const std::vector<NewStack>& added,
                              const FrameResolver& resolve) {
  if (!added.empty()) add_stacks(added, resolve);
  mapped_ = std::move(mapped);
}

std::vector<MappedStack> HeapModel::mapped_stacks() const {
  std::vector<MappedStack> mapped;
  for (const MappedGroup& group : *mapped_) {
    const StackRecord* const stack = group.stack != kNoStack ? find(group.stack) : nullptr;
    MappedStack& made = mapped.emplace_back();
    if (stack != nullptr) made.stack = *stack;
    made.stack.counters = {};
    made.kind = group.kind;
    made.origin = group.origin;
    made.counters = group.counters;
  }
  return mapped;
}

Snapshot HeapModel::snapshot() const {
  Snapshot snapshot;
  snapshot.totals = totals_;
  snapshot.peak_live_bytes = peak_live_bytes_;
  snapshot.frees_of_untraced = frees_of_untraced_;
  snapshot.losses = losses_;
  snapshot.children = children_;
  snapshot.locations = locations_.locations();
  if (mapped_) snapshot.mappings = mapped_stacks();
  snapshot.stacks.reserve(stacks_.size());
  std::copy_if(stacks_.begin(), stacks_.end(), std::back_inserter(snapshot.stacks),
               [](const StackRecord& stack) { return stack.counters.allocated_count != 0; });
  return snapshot;
}

}  // namespace hawk
