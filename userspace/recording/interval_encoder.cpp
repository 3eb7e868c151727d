#include "userspace/recording/interval_encoder.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "userspace/base/check.h"
#include "userspace/recording/recorded_mappings.h"
#include "userspace/recording/recorded_points.h"
#include "userspace/recording/snapshot_fields.h"
#include "userspace/tables/losses.h"
#include "userspace/tables/stack_ends.h"

namespace hawk::recording {
namespace {

/// Whether `before` is what `now` begins with. Copies of a table share their elements.
bool continues(const SharedTable<Location>& before, const SharedTable<Location>& now) {
  if (before.size() > now.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (&before[i] != &now[i] && !(before[i] == now[i])) return false;
  }
  return true;
}

bool is_same_stack(const StackRecord& a, const StackRecord& b) {
  if (a.id != b.id || a.target != b.target || a.end != b.end || a.guessed != b.guessed) return false;
  return (a.frames.begin() == b.frames.begin() && a.frames.size() == b.frames.size()) || a.frames == b.frames;
}

/// Whether every stack of `before` is one of `now`: no program has replaced another.
bool continues(const std::vector<StackRecord>& before, const std::vector<StackRecord>& now) {
  auto next = now.begin();
  for (const StackRecord& stack : before) {
    next = std::find_if(next, now.end(), [&](const StackRecord& other) { return other.id >= stack.id; });
    if (next == now.end() || !is_same_stack(stack, *next)) return false;
  }
  return true;
}

void put_location(ByteWriter& bytes, const Location& location, const Location& before) {
  bytes.number(location.module ? static_cast<std::uint64_t>(*location.module) + 1 : 0);
  bytes.difference(location.address - before.address);
  bytes.difference(location.module_offset - before.module_offset);
  bytes.flag(location.interrupted);
}

/// Outer frames are mostly those of the stack before.
std::size_t shared_outer_frames(const StackFrames& a, const StackFrames& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t shared = 0;
  while (shared < most && a[a.size() - 1 - shared] == b[b.size() - 1 - shared]) ++shared;
  return shared;
}

void put_new_stack(ByteWriter& bytes, const StackRecord& stack, const StackRecord& before) {
  bytes.difference(static_cast<std::uint64_t>(stack.id) - static_cast<std::uint64_t>(before.id));
  bytes.number(static_cast<std::uint64_t>(stack.target));
  bytes.number(stack.end);
  bytes.flag(stack.guessed);
  const std::size_t shared = shared_outer_frames(stack.frames, before.frames);
  bytes.number(shared);
  bytes.number(stack.frames.size() - shared);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i + shared < stack.frames.size(); ++i) {
    const std::uint64_t number = static_cast<std::uint64_t>(stack.frames[i]);
    bytes.difference(number - last);
    last = number;
  }
}

void put_changes(ByteWriter& bytes, const Counters& now, const Counters& before) {
  bytes.difference(now.allocated_bytes - before.allocated_bytes);
  bytes.difference(now.allocated_count - before.allocated_count);
  bytes.difference(now.freed_bytes - before.freed_bytes);
  bytes.difference(now.freed_count - before.freed_count);
}

}  // namespace

std::string IntervalEncoder::encode(const RecordedState& state) {
  const Snapshot& now = state.snapshot;
  HAWK_CHECK(now.modules.size() >= before_.modules.size(), "snapshots of one trace, in order, never lose a module");
  ByteWriter bytes;
  bytes.number(now.trace.duration_ns);
  if (!has_begun_) put_causes(bytes);
  has_begun_ = true;
  bytes.number(now.modules.size() - before_.modules.size());
  for (std::size_t i = before_.modules.size(); i < now.modules.size(); ++i) module_fields(bytes, now.modules[i]);
  put_head(bytes, now);
  const bool begins_anew = !continues(before_.locations, now.locations) || !continues(before_.stacks, now.stacks);
  bytes.flag(begins_anew);
  if (begins_anew) {
    before_.locations = {};
    before_.stacks.clear();
    if (before_.mappings) before_.mappings->clear();
  }
  put_stacks(bytes, now);
  put_totals(bytes, now);
  put_mappings(bytes, state);
  put_names(bytes, state);
  put_records(bytes, state);
  before_ = now;
  return bytes.bytes();
}

/// Who writes, and what the numbers of causes and ends mean, by name: later versions may have others.
void IntervalEncoder::put_causes(ByteWriter& bytes) {
  bytes.text(HAWKTRACE_VERSION);
  bytes.number(loss_texts().size());
  for (const LossText& text : loss_texts()) bytes.text(text.json_name);
  bytes.number(HAWK_END_COUNT);
  for (int end = 0; end < HAWK_END_COUNT; ++end) bytes.text(end_text(static_cast<hawk_end>(end)).json_name);
}

/// What hardly ever changes, as a whole.
void IntervalEncoder::put_head(ByteWriter& bytes, const Snapshot& now) {
  ByteWriter head;
  head.list(now.targets, [&](const TargetInfo& target) { target_fields(head, target); });
  trace_fields(head, now.trace);
  unwind_fields(head, now.unwind, now.modules.size());
  children_fields(head, now.children);
  const bool is_new = head.bytes() != head_before_;
  bytes.flag(is_new);
  if (!is_new) return;
  bytes.text(head.bytes());
  head_before_ = head.bytes();
}

void IntervalEncoder::put_stacks(ByteWriter& bytes, const Snapshot& now) {
  bytes.number(now.locations.size() - before_.locations.size());
  Location last;
  for (std::size_t i = before_.locations.size(); i < now.locations.size(); ++i) {
    put_location(bytes, now.locations[i], last);
    last = now.locations[i];
  }
  ByteWriter added;
  ByteWriter changed;
  std::uint64_t added_count = 0;
  std::uint64_t changed_count = 0;
  std::size_t next_index = 0;  // behind the last one that has changed
  StackRecord last_added;
  auto before = before_.stacks.begin();
  for (std::size_t i = 0; i < now.stacks.size(); ++i) {
    const StackRecord& stack = now.stacks[i];
    Counters counters_before;
    if (before != before_.stacks.end() && before->id == stack.id) {
      counters_before = (before++)->counters;
    } else {
      put_new_stack(added, stack, last_added);
      last_added = stack;
      ++added_count;
    }
    if (stack.counters == counters_before) continue;
    changed.number(i - next_index);
    put_changes(changed, stack.counters, counters_before);
    next_index = i + 1;
    ++changed_count;
  }
  bytes.number(added_count);
  bytes.raw(added.bytes());
  bytes.number(changed_count);
  bytes.raw(changed.bytes());
}

void IntervalEncoder::put_totals(ByteWriter& bytes, const Snapshot& now) {
  bytes.number(now.peak_live_bytes);
  bytes.number(now.frees_of_untraced);
  bytes.number(now.unwind.cache_misses);
  bytes.optional(now.memory, [&](const ProcessMemory& memory) { memory_fields(bytes, memory); });
  std::uint64_t causes = 0;
  for (const std::uint64_t count : now.losses.counts) causes += count != 0 ? 1 : 0;
  bytes.number(causes);
  for (std::size_t cause = 0; cause < now.losses.counts.size(); ++cause) {
    if (now.losses.counts[cause] == 0) continue;
    bytes.number(cause);
    bytes.number(now.losses.counts[cause]);
  }
}

void IntervalEncoder::put_mappings(ByteWriter& bytes, const RecordedState& state) {
  const auto put_missing = [&](const std::vector<CodeMapping>& from, const std::vector<CodeMapping>& in) {
    std::vector<CodeMapping> missing;
    for (const CodeMapping& code : from) {
      const auto by_start = [](const CodeMapping& a, const CodeMapping& b) { return a.start < b.start; };
      const auto found = std::lower_bound(in.begin(), in.end(), code, by_start);
      if (found == in.end() || !(*found == code)) missing.push_back(code);
    }
    bytes.list(missing, [&](const CodeMapping& code) { mapping_fields(bytes, code, state.snapshot.modules.size()); });
  };
  put_missing(mapped_before_, state.mappings);  // unloaded
  put_missing(state.mappings, mapped_before_);  // loaded
  mapped_before_ = state.mappings;
}

namespace {

using Records = std::vector<std::pair<RecordKind, std::string>>;

void put_points(Records& records, const Snapshot& now, const Snapshot& before) {
  const TargetInfo none;
  for (std::size_t index = 0; index < now.targets.size(); ++index) {
    const TargetInfo& target = now.targets[index];
    const TargetInfo& known = index < before.targets.size() ? before.targets[index] : none;
    const auto add = [&](RecordKind kind, const std::string& content) {
      if (content.empty()) return;
      ByteWriter numbered;
      numbered.number(index);
      numbered.raw(content);
      records.emplace_back(kind, numbered.bytes());
    };
    const std::string points = points_of(target);
    const bool is_same = points == points_of(known);
    add(RecordKind::kPoints, is_same ? std::string() : points);
    add(RecordKind::kPointCalls, is_same ? point_calls_of(target, known) : point_calls_of(target));
  }
}

}  // namespace

void IntervalEncoder::put_records(ByteWriter& bytes, const RecordedState& state) const {
  const Snapshot& now = state.snapshot;
  Records records;
  const auto add_known = [&records](RecordKind kind, const auto& value, const auto& put_fields) {
    if (!value) return;
    ByteWriter record;
    put_fields(record, *value);
    records.emplace_back(kind, record.bytes());
  };
  add_known(RecordKind::kUsage, now.usage, [](auto& record, const auto& usage) { usage_fields(record, usage); });
  add_known(RecordKind::kPeakMost, now.peak_live_bytes_most, [](auto& record, auto most) { record.number(most); });
  add_known(RecordKind::kSumMost, state.sum_most, [](auto& record, auto most) { record.number(most); });
  add_known(RecordKind::kLives, now.lives, [](auto& record, const auto& lives) { put_lives(record, lives); });
  add_known(RecordKind::kByThread, now.threads,
            [](auto& record, const auto& threads) { threads_fields(record, threads); });
  add_known(RecordKind::kAges, now.ages, [](auto& record, const auto& ages) { ages_fields(record, ages); });
  if (now.ages && now.ages->age_bits != LiveAges::kExactAges) {
    ByteWriter bits;
    bits.number(now.ages->age_bits);
    records.emplace_back(RecordKind::kAgeBits, bits.bytes());
  }
  if (now.trace.dump_cause != DumpCause::kNone) {
    ByteWriter cause;
    cause.number(static_cast<std::uint64_t>(now.trace.dump_cause));
    records.emplace_back(RecordKind::kDumpCause, cause.bytes());
  }
  for (std::size_t index = 0; index < now.targets.size(); ++index) {
    const std::string& cgroup = now.targets[index].cgroup;
    if (cgroup == (index < before_.targets.size() ? before_.targets[index].cgroup : "")) continue;
    ByteWriter named;
    named.number(index);
    named.text(cgroup);
    records.emplace_back(RecordKind::kCgroup, named.bytes());
  }
  for (std::size_t index = 0; index < now.targets.size(); ++index) {
    const SharedTable<ThreadEvent>& events = now.targets[index].threads;
    const std::size_t known = index < before_.targets.size() ? before_.targets[index].threads.size() : 0;
    HAWK_CHECK(events.size() >= known, "the list of known threads never shrinks");
    if (events.size() == known) continue;
    ByteWriter threads;
    threads.number(index);
    threads.number(events.size() - known);
    for (std::size_t i = known; i < events.size(); ++i) thread_fields(threads, events[i]);
    records.emplace_back(RecordKind::kThreads, threads.bytes());
  }
  put_points(records, now, before_);
  if (std::string mappings = mapping_changes(now, before_); !mappings.empty())
    records.emplace_back(RecordKind::kMappings, std::move(mappings));
  bytes.list(records, [&](const std::pair<RecordKind, std::string>& record) {
    bytes.number(static_cast<std::uint64_t>(record.first));
    bytes.text(record.second);
  });
}

/// A text is written once, when it is first met.
void IntervalEncoder::put_text_number(ByteWriter& bytes, const std::string& text) {
  const auto [known, is_new] = texts_.emplace(text, texts_.size());
  bytes.number(known->second);
  if (is_new) bytes.text(text);
}

void IntervalEncoder::put_names(ByteWriter& bytes, const RecordedState& state) {
  bytes.list(state.names, [&](const NamedAddress& named) {
    bytes.number(named.module ? static_cast<std::uint64_t>(*named.module) + 1 : 0);
    bytes.number(named.address);
    bytes.list(named.frames, [&](const SourceFrame& frame) {
      put_text_number(bytes, frame.function);
      put_text_number(bytes, frame.file);
      bytes.number(frame.line);
      bytes.flag(frame.inlined);
    });
  });
  bytes.list(state.modules, [&](const NamedModule& named) {
    bytes.number(static_cast<std::uint64_t>(named.module));
    bytes.number(static_cast<std::uint64_t>(named.source));
    bytes.text(named.gap);
  });
}

}  // namespace hawk::recording
