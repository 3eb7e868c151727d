#include "userspace/tables/heap_model.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "userspace/base/fibonacci_hash.h"
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

/// Whether two are equal but for their counters. Frames in the same place are the same ones.
bool is_same_stack(const StackRecord& a, const StackRecord& b) {
  return a.id == b.id && a.target == b.target && a.end == b.end && a.guessed == b.guessed &&
         a.frames.begin() == b.frames.begin() && a.frames.size() == b.frames.size();
}

/// The frame that a word of the kernel's stands for.
Location frame_of(std::uint64_t word, const FrameResolver& resolve) {
  Location frame = resolve(word & ~std::uint64_t{HAWK_FRAME_INTERRUPTED});
  frame.interrupted = (word & HAWK_FRAME_INTERRUPTED) != 0;
  return frame;
}

/// Orders `stacks`, of which the first `known` are in order already. Of two with the same id the later one stays.
/// Returns whether there were any.
bool sort_by_id(std::vector<StackRecord>& stacks, std::size_t known) {
  const auto out_of_order = [](const StackRecord& a, const StackRecord& b) { return !ids_ascend(a, b); };
  if (std::adjacent_find(stacks.begin(), stacks.end(), out_of_order) == stacks.end()) return false;
  const auto middle = stacks.begin() + static_cast<std::ptrdiff_t>(known);
  std::stable_sort(middle, stacks.end(), ids_ascend);
  std::inplace_merge(stacks.begin(), middle, stacks.end(), ids_ascend);
  const auto same_id = [](const StackRecord& a, const StackRecord& b) { return a.id == b.id; };
  const auto first = std::unique(stacks.rbegin(), stacks.rend(), same_id).base();
  const bool has_replaced = first != stacks.begin();
  stacks.erase(stacks.begin(), first);
  return has_replaced;
}

/// A number for KnownOfStacks::table.
std::uint64_t next_table() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

void HeapModel::start_epoch(std::uint32_t epoch) {
  exec_epoch_ = epoch;
  stacks_.clear();
  all_complete_ = true;
  table_ = next_table();
  counters_.clear();
  locations_.clear();
  if (mapped_) mapped_->clear();
  least_live_bytes_ = most_live_bytes_ = 0;
  peak_live_bytes_ = peak_live_bytes_most_ = 0;
  freed_bytes_before_ = 0;
  at_peak_.reset();
  of_threads_.clear();
  reported_.clear();
  lives_.reset();
}

const StackRecord* HeapModel::find(StackId id) const {
  const auto at = std::lower_bound(stacks_.begin(), stacks_.end(), id,
                                   [](const StackRecord& stack, StackId wanted) { return stack.id < wanted; });
  return at != stacks_.end() && at->id == id ? &*at : nullptr;
}

void HeapModel::add_stacks(const std::vector<NewStack>& added, const FrameResolver& resolve) {
  std::size_t frame_count = 0;
  for (const NewStack& stack : added) frame_count += stack.frames.numbers().size();
  const auto block = std::make_shared<std::vector<LocationId>>();
  block->reserve(frame_count);  // all of it: the stacks point into it
  // For as long as nothing is mapped or unmapped. The kernel's numbers are of words: addresses with its mark.
  WordNumbers<LocationId> locations;
  const auto location_of = [&](const FrameWords& frames, std::uint32_t number) {
    return locations.find_or_add(number, [&] { return locations_.number_of(frame_of(frames.word(number), resolve)); });
  };
  const std::size_t known = stacks_.size();
  if (stacks_.capacity() < known + added.size()) stacks_.reserve(std::max(2 * known, known + added.size()));
  for (const NewStack& stack : added) {
    const std::size_t first = block->size();
    for (const std::uint32_t number : stack.frames.numbers()) block->push_back(location_of(stack.frames, number));
    stacks_.push_back({.id = stack.id,
                       .counters = {},
                       .end = stack.end,
                       .guessed = stack.guessed,
                       .frames = StackFrames(block, first, block->size() - first)});
    if (stack.id == kNoStack || stacks_.back().quality() != HAWK_STACK_COMPLETE) all_complete_ = false;
    if (stack.tid != 0) note_thread(stacks_.back(), stack.tid);
  }
  if (sort_by_id(stacks_, known) || table_ == 0) table_ = next_table();
}

/// The first stack of some frames stands for all of them.
void HeapModel::note_thread(const StackRecord& stack, int tid) {
  std::uint64_t hash = static_cast<std::uint64_t>(stack.end) * 2 + (stack.guessed ? 1 : 0);
  for (const LocationId frame : stack.frames) {
    hash = hash * 31 + fibonacci_hash(hash ^ static_cast<std::uint64_t>(frame), 64);
  }
  const auto [first, last] = reported_.equal_range(hash);
  const auto same = std::find_if(first, last, [&](const auto& known) {
    const StackRecord& other = known.second;
    return other.end == stack.end && other.guessed == stack.guessed && other.frames == stack.frames;
  });
  const StackId reported = same != last ? same->second.id : stack.id;
  if (same == last) reported_.emplace(hash, stack);
  of_threads_[stack.id] = {.reported_as = reported, .tid = tid};
}

StackId HeapModel::reported_as(StackId id) const {
  const auto known = of_threads_.find(id);
  return known == of_threads_.end() ? id : known->second.reported_as;
}

void HeapModel::take_lives(Lives lives) { lives_ = std::move(lives); }

template <class Visitor>
void HeapModel::for_each_stack(const Visitor& visit, std::size_t first) const {
  auto stack = stacks_.begin();
  for (const StackCounters& read : std::span(counters_).subspan(first)) {
    while (stack != stacks_.end() && stack->id < read.id) ++stack;
    if (stack != stacks_.end() && stack->id == read.id) visit(*stack, bounded(read.counters));
  }
}

/// What was there before is in `counters` then.
void HeapModel::take_counters(std::vector<StackCounters>& counters) {
  counters_.swap(counters);
  totals_ = {};
  std::uint64_t allocated = 0;
  std::uint64_t freed = 0;
  bool ascends = true;
  StackId before{};
  for (const StackCounters& read : counters_) {
    allocated += read.counters.allocated_bytes;
    freed += read.counters.freed_bytes;
    totals_ += bounded(read.counters);
    ascends = ascends && before <= read.id;
    before = read.id;
  }
  // kNoStack can come behind others, in a place that another process had before.
  const auto id_is_less = [](const StackCounters& a, const StackCounters& b) { return a.id < b.id; };
  if (!ascends) std::sort(counters_.begin(), counters_.end(), id_is_less);
  least_live_bytes_ = allocated - std::min(allocated, freed);
  most_live_bytes_ = allocated - std::min(allocated, freed_bytes_before_);
}

std::vector<StackCounters> HeapModel::update(Drained drained, const FrameResolver& resolve) {
  if (drained.exec_epoch != exec_epoch_) start_epoch(drained.exec_epoch);
  lives_.reset();
  if (!drained.new_stacks.empty()) add_stacks(drained.new_stacks, resolve);
  take_counters(drained.counters);
  freed_bytes_before_ = drained.freed_bytes_before;
  peak_live_bytes_ = std::max(peak_live_bytes_, least_live_bytes_);
  peak_live_bytes_most_ = std::max(peak_live_bytes_most_, most_live_bytes_);
  frees_of_untraced_ = drained.frees_of_untraced;
  losses_ = drained.losses;
  children_ = std::move(drained.children);
  return std::move(drained.counters);
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

/// Of stacks that are from the same table, the counters of those that come first now, too. Returns how many they are.
std::size_t HeapModel::count_again(std::vector<StackRecord>& stacks) const {
  const std::size_t most = std::min(stacks.size(), counters_.size());
  std::size_t same = 0;
  for (; same < most && stacks[same].id == counters_[same].id; ++same)
    stacks[same].counters = bounded(counters_[same].counters);
  return same;
}

std::vector<StackRecord> HeapModel::counted_stacks(SpareStacks spare) const {
  std::vector<StackRecord> stacks = std::move(spare.stacks);
  std::size_t count = spare.known.table != 0 && spare.known.table == table_ ? count_again(stacks) : 0;
  stacks.reserve(counters_.size());
  const auto add = [&](const StackRecord& stack, const Counters& counters) {
    if (count == stacks.size()) {
      stacks.push_back(stack);
    } else if (!is_same_stack(stacks[count], stack)) {
      stacks[count] = stack;
    }
    stacks[count++].counters = counters;
  };
  if (count != counters_.size()) for_each_stack(add, count);
  stacks.resize(count);
  return stacks;
}

Snapshot HeapModel::snapshot(SpareStacks spare) const {
  Snapshot snapshot;
  snapshot.totals = totals_;
  // While the target runs a state may say more live than was at any instant; it has no peak below that.
  snapshot.peak_live_bytes = std::max(peak_live_bytes_, totals_.live_bytes());
  snapshot.peak_live_bytes_most = std::max(peak_live_bytes_most_, snapshot.peak_live_bytes);
  snapshot.frees_of_untraced = frees_of_untraced_;
  snapshot.losses = losses_;
  snapshot.children = children_;
  snapshot.locations = locations_.locations();
  if (mapped_) snapshot.mappings = mapped_stacks();
  snapshot.stacks = counted_stacks(std::move(spare));
  snapshot.known_of_stacks = {.all_complete = all_complete_, .table = table_};
  if (lives_) put_lives(snapshot);
  if (!of_threads_.empty()) merge_threads(snapshot);
  return snapshot;
}

/// The stacks of a snapshot, which has all of them still, become those that are reported.
void HeapModel::merge_threads(Snapshot& snapshot) const {
  std::map<StackId, StackRecord> merged;
  for (const StackRecord& stack : snapshot.stacks) {
    const StackId id = reported_as(stack.id);
    const auto [known, is_new] = merged.emplace(id, stack);
    if (is_new) {
      known->second.id = id;
    } else {
      known->second.counters += stack.counters;
    }
  }
  snapshot.stacks.clear();
  for (auto& [id, stack] : merged) snapshot.stacks.push_back(std::move(stack));
}

/// Before the stacks of threads become one.
void HeapModel::put_lives(Snapshot& snapshot) const {
  bound_ages(snapshot.ages.emplace(lives_->ages), snapshot.stacks);
  snapshot.lives = lives_->stacks;
  if (lives_->thread_names) put_threads(snapshot);
  if (!of_threads_.empty()) merge_lives_of_threads(snapshot);
}

void HeapModel::put_threads(Snapshot& snapshot) const {
  ThreadShares& threads = snapshot.threads.emplace();
  threads.names = *lives_->thread_names;
  std::unordered_map<StackId, std::uint64_t> freed_by_others;
  if (lives_->stacks) {
    for (const StackLives& own : *lives_->stacks) {
      if (own.number == BlockHistograms::kFreedByOthersNumber) freed_by_others[own.stack] = own.count;
    }
  }
  for (const StackRecord& stack : snapshot.stacks) {
    const auto known = of_threads_.find(stack.id);
    threads.shares.push_back({.stack = reported_as(stack.id),
                              .target = {},
                              .tid = known == of_threads_.end() ? 0 : known->second.tid,
                              .counters = stack.counters,
                              .freed_by_others = freed_by_others[stack.id]});
  }
  std::sort(threads.shares.begin(), threads.shares.end(), [](const ThreadShare& a, const ThreadShare& b) {
    return std::tie(a.stack, a.tid) < std::tie(b.stack, b.tid);
  });
}

void HeapModel::merge_lives_of_threads(Snapshot& snapshot) const {
  std::map<std::pair<StackId, std::uint64_t>, AgedBlocks> aged;
  for (AgedBlocks blocks : snapshot.ages->blocks) {
    blocks.stack = reported_as(blocks.stack);
    const auto [sum, is_new] = aged.emplace(std::pair(blocks.stack, blocks.born_ms), blocks);
    if (is_new) continue;
    sum->second.bytes += blocks.bytes;
    sum->second.count += blocks.count;
  }
  snapshot.ages->blocks.clear();
  for (const auto& [key, blocks] : aged) snapshot.ages->blocks.push_back(blocks);
  if (!snapshot.lives) return;
  for (StackLives& own : *snapshot.lives) own.stack = reported_as(own.stack);
  merge_lives(*snapshot.lives);
}

void HeapModel::keep_peak() {
  std::vector<StackCounters>& kept = at_peak_.emplace();
  kept.reserve(stacks_.size());
  for (const StackRecord& stack : stacks_) {
    if (reported_as(stack.id) == stack.id) kept.push_back({.id = stack.id, .counters = {}});
  }
  for_each_stack([&](const StackRecord& stack, const Counters& counters) {
    const auto sum = std::lower_bound(kept.begin(), kept.end(), reported_as(stack.id),
                                      [](const StackCounters& a, StackId wanted) { return a.id < wanted; });
    if (sum != kept.end()) sum->counters += counters;
  });
}

Snapshot HeapModel::snapshot_at_peak() const {
  Snapshot then = snapshot();
  then.ages.reset();
  then.lives.reset();
  then.threads.reset();
  then.totals = {};
  const std::vector<StackCounters> nothing;
  const std::vector<StackCounters>& all = at_peak_ ? *at_peak_ : nothing;
  auto kept = all.begin();
  for (StackRecord& stack : then.stacks) {
    while (kept != all.end() && kept->id < stack.id) ++kept;
    stack.counters = kept != all.end() && kept->id == stack.id ? kept->counters : Counters{};
    then.totals += stack.counters;
  }
  std::erase_if(then.stacks, [](const StackRecord& stack) { return stack.counters.allocated_count == 0; });
  return then;
}

}  // namespace hawk
