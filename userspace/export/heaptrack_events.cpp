#include "userspace/export/heaptrack_events.h"

#include <algorithm>
#include <optional>

namespace hawk {
namespace {

/// How far a number and the bytes that belong to it go towards those of the end: never back, never beyond, and where
/// bytes are left for later, so is a block that can have them.
Blocks step(const Blocks& written, const Blocks& now, const Blocks& end) {
  Blocks next = {std::clamp(now.bytes, written.bytes, end.bytes), std::clamp(now.count, written.count, end.count)};
  if (next.bytes != end.bytes && next.count == end.count && next.count != written.count) --next.count;
  if (next.count == written.count) next.bytes = written.bytes;
  return {next.bytes - written.bytes, next.count - written.count};
}

}  // namespace

class HeaptrackEvents::Lines {
 public:
  Lines(HeaptrackEvents& events, const Blocks& blocks, std::uint32_t trace)
      : events_(events),
        trace_(trace),
        size_(blocks.count == 0 ? 0 : blocks.bytes / blocks.count),
        larger_(blocks.count == 0 ? 0 : blocks.bytes % blocks.count),
        left_(blocks.count) {}

  /// The number of the next block's size and trace.
  std::uint64_t next() {
    const bool is_larger = left_-- <= larger_;
    if (!number_ || is_larger != is_larger_) {
      is_larger_ = is_larger;
      number_ = events_.blocks_++;
      events_.out_.put("a {:x} {:x}\n", size_ + (is_larger ? 1 : 0), trace_);
    }
    return *number_;
  }

 private:
  HeaptrackEvents& events_;
  std::uint32_t trace_;
  std::uint64_t size_;
  std::uint64_t larger_;  ///< so many, the last, have one byte more
  std::uint64_t left_;
  bool is_larger_ = false;
  std::optional<std::uint64_t> number_;
};

HeaptrackEvents::HeaptrackEvents(PieceWriter& out, const std::vector<const StackRecord*>& records,
                                 const std::vector<std::uint32_t>& traces)
    : out_(out), records_(records), traces_(traces), written_(records.size()) {
  by_id_.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) by_id_.emplace_back(records[i]->id, i);
  std::sort(by_id_.begin(), by_id_.end());
}

HeaptrackEvents::Change HeaptrackEvents::change_to(std::size_t record, const Counters& now) {
  const Counters& end = records_[record]->counters;
  Counters& written = written_[record];
  const Change change = {
      .record = record,
      .allocated = step({written.allocated_bytes, written.allocated_count}, {now.allocated_bytes, now.allocated_count},
                        {end.allocated_bytes, end.allocated_count}),
      .freed = step({written.freed_bytes, written.freed_count}, {now.freed_bytes, now.freed_count},
                    {end.freed_bytes, end.freed_count})};
  written += {change.allocated.bytes, change.allocated.count, change.freed.bytes, change.freed.count};
  return change;
}

bool HeaptrackEvents::advance(const Snapshot& now) {
  std::vector<Change> changes;
  auto at = by_id_.begin();
  for (const StackRecord& stack : now.stacks) {
    at = std::lower_bound(at, by_id_.end(), std::make_pair(stack.id, std::size_t{0}));
    if (at == by_id_.end()) break;
    if (at->first != stack.id) continue;
    const Change change = change_to(at->second, stack.counters);
    if (change.allocated.count != 0 || change.freed.count != 0) changes.push_back(change);
  }
  return put(changes);
}

bool HeaptrackEvents::advance_to_end() {
  std::vector<Change> changes;
  for (std::size_t i = 0; i < records_.size(); ++i) changes.push_back(change_to(i, records_[i]->counters));
  return put(changes);
}

bool HeaptrackEvents::put_live(const Blocks& blocks, std::size_t record) {
  Lines lines(*this, blocks, traces_[record]);
  return put_each('+', lines, blocks.count);
}

bool HeaptrackEvents::put(const std::vector<Change>& changes) {
  std::vector<std::pair<Lines, Lines>> lines;
  lines.reserve(changes.size());
  for (const Change& change : changes) {
    lines.emplace_back(Lines(*this, change.allocated, traces_[change.record]),
                       Lines(*this, change.freed, traces_[change.record]));
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t allocated = changes[i].allocated.count;
    const std::uint64_t freed = changes[i].freed.count;
    if (freed > allocated && !put_each('-', lines[i].second, freed - allocated)) return false;
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t both = std::min(changes[i].allocated.count, changes[i].freed.count);
    if (!put_pairs(lines[i].first, lines[i].second, both)) return false;
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const std::uint64_t allocated = changes[i].allocated.count;
    const std::uint64_t freed = changes[i].freed.count;
    if (allocated > freed && !put_each('+', lines[i].first, allocated - freed)) return false;
  }
  return true;
}

/// A free that follows its allocation is what the reader calls temporary. Which of these blocks were is not known; that
/// both have lines "a" of their own keeps it from calling any so.
bool HeaptrackEvents::put_pairs(Lines& allocated, Lines& freed, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!put_each('+', allocated, 1) || !put_each('-', freed, 1)) return false;
  }
  return true;
}

bool HeaptrackEvents::put_each(char event, Lines& lines, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t number = lines.next();
    out_.put("{} {:x}\n", event, number);
    if (!out_.go_on()) return false;
  }
  return true;
}

}  // namespace hawk
