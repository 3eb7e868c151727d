#include "userspace/recording/interval_decoder.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "bpf/unwind/ends.h"
#include "userspace/recording/recorded_mappings.h"
#include "userspace/recording/recorded_points.h"
#include "userspace/recording/snapshot_fields.h"
#include "userspace/tables/losses.h"
#include "userspace/tables/stack_ends.h"

namespace hawk::recording {
namespace {

/// The position of `name` among `count` things; a failure if there is none.
template <class NameOf>
std::size_t position(ByteReader& bytes, const std::string& name, std::size_t count, NameOf name_of) {
  for (std::size_t i = 0; i < count; ++i) {
    if (name == name_of(i)) return i;
  }
  bytes.fail();
  return 0;
}

template <class T, class NameOf>
std::vector<T> take_named(ByteReader& bytes, std::size_t count, NameOf name_of) {
  std::vector<T> values(bytes.count(sizeof(T)));
  for (T& value : values) {
    std::string name;
    bytes.text(name);
    value = static_cast<T>(position(bytes, name, count, name_of));
  }
  return values;
}

bool is_before(const StackRecord& a, const StackRecord& b) { return a.id < b.id; }

/// No trace has counters that say otherwise, and what is made of them relies on it.
bool is_sound(const Counters& counters) {
  return counters.freed_bytes <= counters.allocated_bytes && counters.freed_count <= counters.allocated_count;
}

/// Makes a sum of which `before` is a part one of which `now` is in its place. False: it is too large.
bool replace_in_sum(Counters& sum, const Counters& before, const Counters& now) {
  for (const auto number :
       {&Counters::allocated_bytes, &Counters::allocated_count, &Counters::freed_bytes, &Counters::freed_count}) {
    if (__builtin_add_overflow(sum.*number - before.*number, now.*number, &(sum.*number))) return false;
  }
  return true;
}

}  // namespace

std::uint64_t IntervalDecoder::time_of(std::string_view interval) {
  std::uint64_t no_budget = 0;
  return ByteReader(interval, no_budget).number();
}

IntervalDecoder::Outcome IntervalDecoder::take(std::string_view interval) {
  ByteReader bytes(interval, budget_);
  const std::uint64_t before_ns = std::exchange(snapshot_.trace.duration_ns, bytes.number());
  if (snapshot_.trace.duration_ns < before_ns) bytes.fail();
  if (!has_begun_) take_causes(bytes);
  has_begun_ = true;
  take_modules(bytes);
  take_head(bytes);
  bool begins_anew = false;
  bytes.flag(begins_anew);
  if (begins_anew) {
    snapshot_.locations = {};
    snapshot_.stacks.clear();
    snapshot_.totals = {};
    if (snapshot_.mappings) snapshot_.mappings->clear();
  }
  take_locations(bytes);
  take_new_stacks(bytes);
  take_changes(bytes);
  take_totals(bytes);
  take_mappings(bytes);
  take_names(bytes);
  snapshot_.usage.reset();
  snapshot_.ages.reset();
  snapshot_.lives.reset();
  snapshot_.threads.reset();
  snapshot_.peak_live_bytes_most.reset();
  snapshot_.trace.dump_cause = DumpCause::kNone;
  if (!bytes.is_complete()) take_records(bytes);  // version 1 has none
  if (bytes.is_complete()) return Outcome::kTaken;
  return bytes.ran_out() ? Outcome::kTooLarge : Outcome::kMalformed;
}

void IntervalDecoder::take_causes(ByteReader& bytes) {
  bytes.text(writer_);
  causes_ = take_named<hawk_loss>(bytes, loss_texts().size(), [](std::size_t i) { return loss_texts()[i].json_name; });
  ends_ = take_named<hawk_end>(bytes, HAWK_END_COUNT,
                               [](std::size_t i) { return end_text(static_cast<hawk_end>(i)).json_name; });
}

void IntervalDecoder::take_modules(ByteReader& bytes) {
  for (std::uint64_t left = bytes.count(sizeof(Module)); left > 0 && bytes.is_good(); --left) {
    Module module;
    module_fields(bytes, module);
    snapshot_.modules.push_back(std::move(module));
  }
}

void IntervalDecoder::take_head(ByteReader& bytes) {
  bool is_new = false;
  bytes.flag(is_new);
  if (!is_new) {
    if (snapshot_.targets.empty()) bytes.fail();
    return;
  }
  std::string head;
  bytes.text(head);
  const std::uint64_t duration_ns = snapshot_.trace.duration_ns;
  ByteReader fields(head, budget_);
  fields.list(snapshot_.targets, [&](TargetInfo& target) { target_fields(fields, target); });
  trace_fields(fields, snapshot_.trace);
  unwind_fields(fields, snapshot_.unwind, snapshot_.modules.size());
  children_fields(fields, snapshot_.children);
  snapshot_.trace.duration_ns = duration_ns;
  bytes.require(fields);
  if (snapshot_.targets.empty()) bytes.fail();
}

std::optional<ModuleId> IntervalDecoder::module_or_none(ByteReader& bytes) {
  const std::uint64_t number = bytes.number_below(snapshot_.modules.size() + 1);
  if (number == 0) return std::nullopt;
  return static_cast<ModuleId>(number - 1);
}

void IntervalDecoder::take_locations(ByteReader& bytes) {
  Location last;
  for (std::uint64_t left = bytes.count(sizeof(Location)); left > 0 && bytes.is_good(); --left) {
    last.module = module_or_none(bytes);
    last.address += bytes.difference();
    last.module_offset += bytes.difference();
    bytes.flag(last.interrupted);
    snapshot_.locations.push_back(last);
  }
}

StackRecord IntervalDecoder::new_stack(ByteReader& bytes, const StackRecord& before) {
  StackRecord stack;
  stack.id = static_cast<StackId>(static_cast<std::uint32_t>(before.id) + bytes.difference());
  stack.target = static_cast<TargetId>(bytes.number_below(snapshot_.targets.size()));
  const std::uint64_t end = bytes.number_below(ends_.size());
  if (bytes.is_good()) stack.end = ends_[end];
  bytes.flag(stack.guessed);
  const std::uint64_t shared = bytes.number_below(before.frames.size() + 1);
  const std::uint64_t own = bytes.count(sizeof(LocationId));
  std::vector<LocationId> frames(own);
  std::uint64_t last = 0;
  for (LocationId& frame : frames) {
    last += bytes.difference();
    if (last >= snapshot_.locations.size()) last = bytes.fail();
    frame = static_cast<LocationId>(last);
  }
  if (!bytes.spend(shared * sizeof(LocationId))) return stack;
  frames.insert(frames.end(), before.frames.end() - shared, before.frames.end());
  stack.frames = StackFrames(std::move(frames));
  return stack;
}

void IntervalDecoder::take_new_stacks(ByteReader& bytes) {
  const auto known = static_cast<std::ptrdiff_t>(snapshot_.stacks.size());
  StackRecord last;
  for (std::uint64_t left = bytes.count(sizeof(StackRecord)); left > 0 && bytes.is_good(); --left) {
    last = new_stack(bytes, last);
    snapshot_.stacks.push_back(last);
  }
  std::vector<StackRecord>& stacks = snapshot_.stacks;
  std::inplace_merge(stacks.begin(), stacks.begin() + known, stacks.end(), is_before);
  const auto is_not_before = [](const StackRecord& a, const StackRecord& b) { return !is_before(a, b); };
  if (std::adjacent_find(stacks.begin(), stacks.end(), is_not_before) != stacks.end()) bytes.fail();
}

void IntervalDecoder::take_changes(ByteReader& bytes) {
  std::uint64_t next = 0;
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    const std::uint64_t gap = bytes.number_below(snapshot_.stacks.size() - next);
    if (!bytes.is_good()) return;
    Counters& counters = snapshot_.stacks[next + gap].counters;
    next += gap + 1;
    Counters change;
    change.allocated_bytes = bytes.difference();
    change.allocated_count = bytes.difference();
    change.freed_bytes = bytes.difference();
    change.freed_count = bytes.difference();
    const Counters before = counters;
    counters += change;
    if (!is_sound(counters) || !replace_in_sum(snapshot_.totals, before, counters)) bytes.fail();
  }
}

void IntervalDecoder::take_totals(ByteReader& bytes) {
  bytes.number(snapshot_.peak_live_bytes);
  if (snapshot_.peak_live_bytes < snapshot_.totals.live_bytes()) bytes.fail();
  bytes.number(snapshot_.frees_of_untraced);
  bytes.number(snapshot_.unwind.cache_misses);
  bytes.optional(snapshot_.memory, [&](ProcessMemory& memory) { memory_fields(bytes, memory); });
  snapshot_.losses = {};
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    const std::uint64_t cause = bytes.number_below(causes_.size());
    const std::uint64_t count = bytes.number();
    if (bytes.is_good()) snapshot_.losses[causes_[cause]] = count;
  }
}

void IntervalDecoder::take_mappings(ByteReader& bytes) {
  std::vector<CodeMapping> unloaded;
  std::vector<CodeMapping> loaded;
  const auto fields = [&](CodeMapping& code) { mapping_fields(bytes, code, snapshot_.modules.size()); };
  bytes.list(unloaded, fields);
  bytes.list(loaded, fields);
  const std::uint64_t now = snapshot_.trace.duration_ns;
  for (const CodeMapping& code : unloaded) {
    const auto found = mapped_.find(code.start);
    if (found == mapped_.end() || !(mappings_[found->second].code == code)) {
      bytes.fail();
      return;
    }
    mappings_[found->second].unloaded_ns = now;
    mapped_.erase(found);
  }
  if (!bytes.spend(loaded.size() * 2 * sizeof(RecordedMapping))) return;
  for (const CodeMapping& code : loaded) {
    if (!mapped_.emplace(code.start, mappings_.size()).second) bytes.fail();
    mappings_.push_back({.code = code, .loaded_ns = now, .unloaded_ns = {}});
  }
}

std::uint32_t IntervalDecoder::text_number(ByteReader& bytes) {
  const std::uint64_t number = bytes.number_below(names_.text_count() + 1);
  if (bytes.is_good() && number == names_.text_count()) {
    std::string text;
    bytes.text(text);
    names_.add_text(std::move(text));
  }
  return static_cast<std::uint32_t>(number);
}

/// What later versions add is passed over.
void IntervalDecoder::take_records(ByteReader& bytes) {
  for (std::uint64_t left = bytes.count(0); left > 0 && bytes.is_good(); --left) {
    const std::uint64_t kind = bytes.number();
    std::string content;
    bytes.text(content);
    ByteReader fields(content, budget_);
    if (kind == static_cast<std::uint64_t>(RecordKind::kUsage)) {
      usage_fields(fields, snapshot_.usage.emplace());
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kDumpCause)) {
      snapshot_.trace.dump_cause = static_cast<DumpCause>(fields.number_below(kDumpCauses));
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kPeakMost)) {
      snapshot_.peak_live_bytes_most = fields.number();
      if (*snapshot_.peak_live_bytes_most < snapshot_.peak_live_bytes) bytes.fail();
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kLives)) {
      take_lives(fields, snapshot_.lives.emplace());
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kByThread)) {
      take_thread_shares(fields);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kAges)) {
      take_ages(fields);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kSumMost)) {
      sum_most_ = fields.number();
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kAgeBits)) {
      const std::uint64_t bits = fields.number_below(LiveAges::kExactAges);
      if (!snapshot_.ages || bits == 0) return static_cast<void>(bytes.fail());
      snapshot_.ages->age_bits = static_cast<std::uint32_t>(bits);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kThreads)) {
      take_threads(fields);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kCgroup)) {
      fields.text(snapshot_.targets[fields.number_below(snapshot_.targets.size())].cgroup);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kPoints)) {
      take_points(fields, snapshot_.targets[fields.number_below(snapshot_.targets.size())]);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kPointCalls)) {
      take_point_calls(fields, snapshot_.targets[fields.number_below(snapshot_.targets.size())]);
    } else if (kind == static_cast<std::uint64_t>(RecordKind::kMappings)) {
      take_mapping_changes(fields, snapshot_, ends_);
    } else {
      continue;
    }
    bytes.require(fields);
  }
}

/// Who reads them relies on their order, and that they are parts of what is live.
void IntervalDecoder::take_ages(ByteReader& bytes) {
  LiveAges& ages = snapshot_.ages.emplace();
  ages_fields(bytes, ages);
  const auto is_out_of_order = [](const AgedBlocks& a, const AgedBlocks& b) {
    return std::tie(a.stack, a.born_ms) >= std::tie(b.stack, b.born_ms);
  };
  const auto& blocks = ages.blocks;
  if (std::adjacent_find(blocks.begin(), blocks.end(), is_out_of_order) != blocks.end()) bytes.fail();
  if (!std::is_sorted(ages.marks_ms.begin(), ages.marks_ms.end())) bytes.fail();
  bound_ages(ages, snapshot_.stacks);
}

void IntervalDecoder::take_thread_shares(ByteReader& bytes) {
  ThreadShares& threads = snapshot_.threads.emplace();
  threads_fields(bytes, threads);
  for (const ThreadShare& share : threads.shares) {
    if (!is_sound(share.counters)) bytes.fail();
  }
}

void IntervalDecoder::take_threads(ByteReader& bytes) {
  const std::uint64_t target = bytes.number_below(snapshot_.targets.size());
  for (std::uint64_t left = bytes.count(sizeof(ThreadEvent)); left > 0 && bytes.is_good(); --left) {
    ThreadEvent event;
    thread_fields(bytes, event);
    snapshot_.targets[target].threads.push_back(std::move(event));
  }
}

void IntervalDecoder::take_names(ByteReader& bytes) {
  for (std::uint64_t left = bytes.count(sizeof(NamedAddress)); left > 0 && bytes.is_good(); --left) {
    const std::optional<ModuleId> module = module_or_none(bytes);
    const std::uint64_t address = bytes.number();
    std::vector<PooledFrame> frames;
    bytes.list(frames, [&](PooledFrame& frame) {
      frame.function = text_number(bytes);
      frame.file = text_number(bytes);
      bytes.number(frame.line);
      bytes.flag(frame.inlined);
    });
    if (bytes.is_good()) names_.set(module, address, std::move(frames));
  }
  std::vector<NamedModule> modules;
  bytes.list(modules, [&](NamedModule& named) {
    module_id_fields(bytes, named.module, snapshot_.modules.size());
    named.source = static_cast<SymbolSource>(bytes.number_below(static_cast<int>(SymbolSource::kDebugInfo) + 1));
    bytes.text(named.gap);
  });
  if (!bytes.is_good()) return;
  for (const NamedModule& named : modules) names_.set(named);
}

}  // namespace hawk::recording
