#include "userspace/tables/merged_snapshot.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "userspace/base/fibonacci_hash.h"

namespace hawk {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum_up_to_most(std::uint64_t a, std::uint64_t b) { return a > kMost - b ? kMost : a + b; }

/// False: it is too large.
bool add(Counters& sum, const Counters& more) {
  for (const auto number :
       {&Counters::allocated_bytes, &Counters::allocated_count, &Counters::freed_bytes, &Counters::freed_count}) {
    if (__builtin_add_overflow(sum.*number, more.*number, &(sum.*number))) return false;
  }
  return true;
}

class Merger {
 public:
  Merger() { merged_.snapshot.targets.clear(); }

  bool add(const Snapshot& part) {
    begin(part);
    add_modules(part);
    add_locations(part);
    for (const StackRecord& stack : part.stacks) {
      if (!add_stack(stack)) return false;
    }
    Snapshot& all = merged_.snapshot;
    add_trace(part);
    add_memory(part);
    add_usage(part);
    add_unwind(part.unwind);
    add_children(part.children);
    all.frees_of_untraced = sum_up_to_most(all.frees_of_untraced, part.frees_of_untraced);
    for (std::size_t cause = 0; cause < all.losses.counts.size(); ++cause) {
      all.losses.counts[cause] = sum_up_to_most(all.losses.counts[cause], part.losses.counts[cause]);
    }
    return hawk::add(all.totals, part.totals);
  }

  MergedSnapshot take(std::uint64_t peak_live_bytes) {
    Snapshot& all = merged_.snapshot;
    all.peak_live_bytes = std::max(peak_live_bytes, all.totals.live_bytes());
    all.trace.start_unix_ns = start_ns_;
    all.trace.duration_ns = end_ns_ - start_ns_;
    std::sort(all.stacks.begin(), all.stacks.end(),
              [](const StackRecord& a, const StackRecord& b) { return a.id < b.id; });
    for (const auto& [comm, count] : programs_) all.children.programs.push_back({comm, count});
    std::stable_sort(all.children.programs.begin(), all.children.programs.end(),
                     [](const ChildProgram& a, const ChildProgram& b) { return a.count > b.count; });
    return std::move(merged_);
  }

 private:
  void begin(const Snapshot& part) {
    first_target_ = merged_.snapshot.targets.size();
    merged_.snapshot.targets.insert(merged_.snapshot.targets.end(), part.targets.begin(), part.targets.end());
  }

  void add_modules(const Snapshot& part) {
    std::vector<ModuleId>& numbers = merged_.modules.emplace_back();
    SharedTable<Module>& modules = merged_.snapshot.modules;
    for (const Module& module : part.modules) {
      const auto [known, is_new] =
          modules_.emplace(std::make_pair(module.path, module.build_id), static_cast<ModuleId>(modules.size()));
      if (is_new) modules.push_back(module);
      numbers.push_back(known->second);
    }
  }
  ModuleId module_of(ModuleId own) const { return merged_.modules.back()[static_cast<std::size_t>(own)]; }

  void add_locations(const Snapshot& part) {
    locations_of_part_.clear();
    SharedTable<Location>& locations = merged_.snapshot.locations;
    for (const Location& own : part.locations) {
      Location location = own;
      if (own.module) location.module = module_of(*own.module);
      const LocationKey key = {location.module, own.module ? own.module_offset : own.address, own.interrupted};
      const auto [known, is_new] = locations_.emplace(key, static_cast<LocationId>(locations.size()));
      if (is_new) locations.push_back(location);
      locations_of_part_.push_back(known->second);
    }
  }

  bool add_stack(const StackRecord& own) {
    StackRecord stack = own;
    std::vector<LocationId> frames;
    std::uint64_t hash = static_cast<std::uint64_t>(own.end) * 2 + (own.guessed ? 1 : 0);
    for (const LocationId frame : own.frames) {
      frames.push_back(locations_of_part_[static_cast<std::size_t>(frame)]);
      hash = hash * 31 + fibonacci_hash(hash ^ static_cast<std::uint64_t>(frames.back()), 64);
    }
    stack.frames = StackFrames(std::move(frames));
    stack.target = static_cast<TargetId>(first_target_ + static_cast<std::size_t>(own.target));
    if (StackRecord* known = find(stack, hash)) return hawk::add(known->counters, stack.counters);
    std::vector<StackRecord>& stacks = merged_.snapshot.stacks;
    if (own.id == kNoStack) {
      no_stack_ = stacks.size();
    } else {
      stacks_.emplace(hash, stacks.size());
      stack.id = static_cast<StackId>(++last_id_);
    }
    stacks.push_back(std::move(stack));
    return true;
  }

  StackRecord* find(const StackRecord& stack, std::uint64_t hash) {
    std::vector<StackRecord>& stacks = merged_.snapshot.stacks;
    if (stack.id == kNoStack) return no_stack_ ? &stacks[*no_stack_] : nullptr;
    const auto [begin, end] = stacks_.equal_range(hash);
    for (auto place = begin; place != end; ++place) {
      StackRecord& known = stacks[place->second];
      if (known.end == stack.end && known.guessed == stack.guessed && known.frames == stack.frames) return &known;
    }
    return nullptr;
  }

  void add_trace(const Snapshot& part) {
    TraceInfo& trace = merged_.snapshot.trace;
    const std::uint64_t end_ns = sum_up_to_most(part.trace.start_unix_ns, part.trace.duration_ns);
    if (std::exchange(is_first_, false)) {
      trace = part.trace;
      trace.dump_cause = DumpCause::kNone;
      start_ns_ = part.trace.start_unix_ns;
      end_ns_ = end_ns;
      return;
    }
    start_ns_ = std::min(start_ns_, part.trace.start_unix_ns);
    end_ns_ = std::max(end_ns_, end_ns);
    constexpr const char* kMixed = "mixed";
    if (trace.attach_via != part.trace.attach_via) trace.attach_via = kMixed;
    if (trace.live_table != part.trace.live_table) trace.live_table = kMixed;
    if (trace.unwind != part.trace.unwind) trace.unwind = kMixed;
    trace.min_block_bytes = std::max(trace.min_block_bytes, part.trace.min_block_bytes);
    trace.from_start = trace.from_start && part.trace.from_start;
    trace.interval_ns = std::max(trace.interval_ns, part.trace.interval_ns);
    trace.target_exited = trace.target_exited && part.trace.target_exited;
    trace.exec_count = sum_up_to_most(trace.exec_count, part.trace.exec_count);
    if (!part.trace.verified) {
      if (trace.verified == std::optional<bool>(true)) trace.verified.reset();
    } else if (!*part.trace.verified) {
      trace.verified = false;
    }
  }

  void add_memory(const Snapshot& part) {
    if (!part.memory) return;
    std::optional<ProcessMemory>& memory = merged_.snapshot.memory;
    if (!memory) memory.emplace();
    for (const auto number : {&ProcessMemory::resident_bytes, &ProcessMemory::anonymous_bytes,
                              &ProcessMemory::swapped_bytes, &ProcessMemory::live_bytes}) {
      (*memory).*number = sum_up_to_most((*memory).*number, (*part.memory).*number);
    }
  }

  /// Of hawktrace itself each process tells the same, as of its last reading.
  void add_usage(const Snapshot& part) {
    if (!part.usage) return;
    std::optional<TracingUsage>& usage = merged_.snapshot.usage;
    if (!usage) usage.emplace();
    usage->cpu_ns = std::max(usage->cpu_ns, part.usage->cpu_ns);
    usage->peak_resident_bytes = std::max(usage->peak_resident_bytes, part.usage->peak_resident_bytes);
    usage->table_bytes = std::max(usage->table_bytes, part.usage->table_bytes);
    if (!part.usage->target_cpu_ns) return;
    usage->target_cpu_ns = sum_up_to_most(usage->target_cpu_ns.value_or(0), *part.usage->target_cpu_ns);
  }

  void add_unwind(const UnwindInfo& part) {
    UnwindInfo& unwind = merged_.snapshot.unwind;
    for (UnsupportedRules rules : part.unsupported_rules) {
      rules.module = module_of(rules.module);
      const bool is_new = unsupported_.emplace(rules.module, rules.reason).second;
      if (is_new) unwind.unsupported_rules.push_back(std::move(rules));
    }
    for (const ModuleId own : part.modules_without_table) {
      const ModuleId module = module_of(own);
      std::vector<ModuleId>& known = unwind.modules_without_table;
      if (std::find(known.begin(), known.end(), module) == known.end()) known.push_back(module);
    }
    unwind.cache_misses = sum_up_to_most(unwind.cache_misses, part.cache_misses);
  }

  void add_children(const UntracedChildren& part) {
    UntracedChildren& children = merged_.snapshot.children;
    children.without_exec = sum_up_to_most(children.without_exec, part.without_exec);
    for (const ChildProgram& program : part.programs) {
      programs_[program.comm] = sum_up_to_most(programs_[program.comm], program.count);
    }
  }

  using LocationKey = std::tuple<std::optional<ModuleId>, std::uint64_t, bool>;

  MergedSnapshot merged_;
  bool is_first_ = true;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::size_t first_target_ = 0;               ///< of the part that is added
  std::vector<LocationId> locations_of_part_;  ///< by their numbers there
  std::map<std::pair<std::string, std::string>, ModuleId> modules_;
  std::map<LocationKey, LocationId> locations_;
  std::unordered_multimap<std::uint64_t, std::size_t> stacks_;  ///< by a hash: where in the snapshot
  std::optional<std::size_t> no_stack_;
  std::uint32_t last_id_ = 0;
  std::set<std::pair<ModuleId, std::string>> unsupported_;
  std::map<std::string, std::uint64_t> programs_;
};

}  // namespace

std::optional<MergedSnapshot> merge_snapshots(const std::vector<const Snapshot*>& parts,
                                              std::uint64_t peak_live_bytes) {
  Merger merger;
  for (const Snapshot* part : parts) {
    if (!merger.add(*part)) return std::nullopt;
  }
  return merger.take(peak_live_bytes);
}

}  // namespace hawk
