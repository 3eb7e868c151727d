#include "userspace/tables/merged_snapshot.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "userspace/base/sum_up_to_most.h"

namespace hawk {
namespace {

/// False: it is too large.
bool add_up(Counters& sum, const Counters& more) {
  for (const auto number :
       {&Counters::allocated_bytes, &Counters::allocated_count, &Counters::freed_bytes, &Counters::freed_count}) {
    if (__builtin_add_overflow(sum.*number, more.*number, &(sum.*number))) return false;
  }
  return true;
}

}  // namespace

TargetPart part_of(const Snapshot& process) {
  return {.totals = process.totals,
          .peak_live_bytes = process.peak_live_bytes,
          .peak_live_bytes_most = process.peak_live_bytes_most,
          .frees_of_untraced = process.frees_of_untraced,
          .losses = process.losses,
          .children = process.children,
          .memory = process.memory,
          .start_unix_ns = process.trace.start_unix_ns,
          .duration_ns = process.trace.duration_ns,
          .verified = process.trace.verified,
          .exec_count = process.trace.exec_count,
          .target_exited = process.trace.target_exited,
          .stacks_complete = process.stacks_complete()};
}

namespace {

/// The sum, process by process.
class Sum {
 public:
  explicit Sum(MergedNumbers& numbers) : numbers_(numbers) { all_.targets.clear(); }

  bool add(const Snapshot& part) {
    const auto target = static_cast<TargetId>(all_.targets.size());
    numbers_.begin(part, all_.targets.size());
    all_.targets.push_back(part.target());
    all_.parts.push_back(part_of(part));
    for (const StackRecord& stack : part.stacks) {
      if (!add_stack(stack, target)) return false;
    }
    if (!add_mappings(part, target)) return false;
    add_lives(part, target);
    add_trace(part);
    add_memory(part);
    add_usage(part);
    add_unwind(part.unwind);
    add_children(part.children);
    all_.frees_of_untraced = sum_up_to_most(all_.frees_of_untraced, part.frees_of_untraced);
    for (std::size_t cause = 0; cause < all_.losses.counts.size(); ++cause) {
      all_.losses.counts[cause] = sum_up_to_most(all_.losses.counts[cause], part.losses.counts[cause]);
    }
    return add_up(all_.totals, part.totals);
  }

  Snapshot take(std::uint64_t peak_live_bytes, std::optional<std::uint64_t> most) {
    all_.peak_live_bytes = std::max(peak_live_bytes, all_.totals.live_bytes());
    if (most) all_.peak_live_bytes_most = std::max(*most, all_.peak_live_bytes);
    all_.trace.start_unix_ns = start_ns_;
    all_.trace.duration_ns = end_ns_ - start_ns_;
    all_.modules = numbers_.modules();
    all_.locations = numbers_.locations();
    put_stacks();
    put_mappings();
    put_lives();
    put_shares();
    for (const auto& [comm, count] : programs_) all_.children.programs.push_back({comm, count});
    std::stable_sort(all_.children.programs.begin(), all_.children.programs.end(),
                     [](const ChildProgram& a, const ChildProgram& b) { return a.count > b.count; });
    return std::move(all_);
  }

 private:
  /// What is known of a stack of that number, by number.
  struct Counted {
    Counters counters;
    std::uint32_t shares = 0;
    TargetId first{};
    bool is_there = false;
  };

  /// The same of what was mapped by it.
  struct Mapped {
    RegionCounters counters;
    TargetId first{};
    bool is_there = false;
  };

  bool add_stack(const StackRecord& own, TargetId target) {
    const StackId id = own.id == kNoStack ? kNoStack : numbers_.number_of(own);
    if (counted_.size() <= numbers_.stack_count()) counted_.resize(numbers_.stack_count() + 1);
    Counted& stack = counted_[static_cast<std::size_t>(id)];
    if (!std::exchange(stack.is_there, true)) stack.first = target;
    ++stack.shares;
    shares_.push_back({id, target, own.counters});
    return add_up(stack.counters, own.counters);
  }

  bool add_mappings(const Snapshot& part, TargetId target) {
    if (!part.mappings) return true;
    if (!all_.mappings) all_.mappings.emplace();
    for (const MappedStack& own : *part.mappings) {
      const StackId id = own.stack.id == kNoStack ? kNoStack : numbers_.number_of(own.stack);
      Mapped& sum = mapped_[{id, own.kind, own.origin}];
      if (!std::exchange(sum.is_there, true)) sum.first = target;
      if (!hawk::add(sum.counters, own.counters)) return false;
    }
    return true;
  }

  void put_mappings() {
    for (const auto& [key, sum] : mapped_) {
      MappedStack& mapped = all_.mappings->emplace_back();
      const StackId id = std::get<StackId>(key);
      if (id != kNoStack) mapped.stack = numbers_.stack(id);
      mapped.stack.target = sum.first;
      mapped.kind = std::get<RegionKind>(key);
      mapped.origin = std::get<RegionOrigin>(key);
      mapped.counters = sum.counters;
    }
  }

  /// Calls `take` with each of `own`, ascending by stack, and the number that its stack has here.
  template <class Own, class Take>
  void for_each_of_stacks(const Snapshot& part, const std::vector<Own>& own, Take take) {
    auto stack = part.stacks.begin();
    for (const Own& one : own) {
      while (stack != part.stacks.end() && stack->id < one.stack) ++stack;
      if (stack == part.stacks.end()) return;
      if (stack->id == one.stack) take(one, one.stack == kNoStack ? kNoStack : numbers_.number_of(*stack));
    }
  }

  /// All processes have the same clock.
  void add_lives(const Snapshot& part, TargetId target) {
    const auto add_to = [&](auto& sums) {
      return [&sums, target](auto one, StackId stack) {
        one.stack = stack;
        one.target = target;
        sums.push_back(std::move(one));
      };
    };
    if (part.ages) {
      LiveAges& ages = all_.ages ? *all_.ages : all_.ages.emplace();
      ages.now_ms = std::max(ages.now_ms, part.ages->now_ms);
      ages.age_bits = std::min(ages.age_bits, part.ages->age_bits);
      if (ages.marks_ms.size() < part.ages->marks_ms.size()) ages.marks_ms = part.ages->marks_ms;
      for_each_of_stacks(part, part.ages->blocks, add_to(ages.blocks));
    }
    if (part.lives) for_each_of_stacks(part, *part.lives, add_to(all_.lives ? *all_.lives : all_.lives.emplace()));
    if (!part.threads) return;
    ThreadShares& threads = all_.threads ? *all_.threads : all_.threads.emplace();
    for_each_of_stacks(part, part.threads->shares, add_to(threads.shares));
    for (ThreadName name : part.threads->names) {
      name.target = target;
      threads.names.push_back(std::move(name));
    }
  }

  /// They were added process by process.
  void put_lives() {
    const auto sort = [](auto& sums) {
      std::stable_sort(sums.begin(), sums.end(), [](const auto& a, const auto& b) {
        return std::tie(a.stack, a.target) < std::tie(b.stack, b.target);
      });
    };
    if (all_.ages) sort(all_.ages->blocks);
    if (all_.lives) merge_lives(*all_.lives);
    if (all_.threads) sort(all_.threads->shares);
  }

  void put_stacks() {
    for (std::size_t number = 0; number < counted_.size(); ++number) {
      const Counted& counted = counted_[number];
      if (!counted.is_there) continue;
      const StackId id{static_cast<std::uint32_t>(number)};
      StackRecord& stack = all_.stacks.emplace_back();
      if (id != kNoStack) stack = numbers_.stack(id);
      stack.target = counted.first;
      stack.counters = counted.counters;
    }
  }

  /// They were added process by process. Two stacks of a process may be one here, of code that was mapped elsewhere
  /// before.
  void put_shares() {
    if (all_.parts.size() == 1) all_.parts.clear();
    if (all_.parts.empty()) return;
    std::vector<std::size_t> next(counted_.size() + 1);
    for (std::size_t number = 0; number < counted_.size(); ++number) {
      next[number + 1] = next[number] + counted_[number].shares;
    }
    all_.shares.resize(shares_.size());
    for (const StackShare& share : shares_) all_.shares[next[static_cast<std::size_t>(share.stack)]++] = share;
    std::size_t last = 0;
    for (std::size_t i = 1; i < all_.shares.size(); ++i) {
      const StackShare share = all_.shares[i];
      StackShare& before = all_.shares[last];
      if (share.stack == before.stack && share.target == before.target) {
        before.counters += share.counters;
      } else {
        all_.shares[++last] = share;
      }
    }
    if (!all_.shares.empty()) all_.shares.resize(last + 1);
  }

  void add_trace(const Snapshot& part) {
    TraceInfo& trace = all_.trace;
    const std::uint64_t end_ns = sum_up_to_most(part.trace.start_unix_ns, part.trace.duration_ns);
    if (std::exchange(is_first_, false)) {
      trace = part.trace;
      all_.is_at_peak = part.is_at_peak;
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
    all_.is_at_peak = all_.is_at_peak && part.is_at_peak;
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
    std::optional<ProcessMemory>& memory = all_.memory;
    if (!memory) memory.emplace();
    for (const auto number : {&ProcessMemory::resident_bytes, &ProcessMemory::anonymous_bytes,
                              &ProcessMemory::swapped_bytes, &ProcessMemory::live_bytes}) {
      (*memory).*number = sum_up_to_most((*memory).*number, (*part.memory).*number);
    }
  }

  /// Of hawktrace itself each process says the same, as of its last reading.
  void add_usage(const Snapshot& part) {
    if (!part.usage) return;
    std::optional<TracingUsage>& usage = all_.usage;
    if (!usage) usage.emplace();
    usage->cpu_ns = std::max(usage->cpu_ns, part.usage->cpu_ns);
    usage->peak_resident_bytes = std::max(usage->peak_resident_bytes, part.usage->peak_resident_bytes);
    usage->table_bytes = std::max(usage->table_bytes, part.usage->table_bytes);
    if (!part.usage->target_cpu_ns) return;
    usage->target_cpu_ns = sum_up_to_most(usage->target_cpu_ns.value_or(0), *part.usage->target_cpu_ns);
  }

  void add_unwind(const UnwindInfo& part) {
    for (UnsupportedRules rules : part.unsupported_rules) {
      rules.module = numbers_.module_of(rules.module);
      const bool is_new = unsupported_.emplace(rules.module, rules.reason).second;
      if (is_new) all_.unwind.unsupported_rules.push_back(std::move(rules));
    }
    for (const ModuleId own : part.modules_without_table) {
      const ModuleId module = numbers_.module_of(own);
      if (without_table_.insert(module).second) all_.unwind.modules_without_table.push_back(module);
    }
    all_.unwind.cache_misses = sum_up_to_most(all_.unwind.cache_misses, part.cache_misses);
  }

  void add_children(const UntracedChildren& part) {
    all_.children.without_exec = sum_up_to_most(all_.children.without_exec, part.without_exec);
    for (const ChildProgram& program : part.programs) {
      programs_[program.comm] = sum_up_to_most(programs_[program.comm], program.count);
    }
  }

  MergedNumbers& numbers_;
  Snapshot all_;
  std::vector<Counted> counted_;  ///< by StackId
  std::map<std::tuple<StackId, RegionKind, RegionOrigin>, Mapped> mapped_;
  std::vector<StackShare> shares_;  ///< in the order of the processes
  bool is_first_ = true;
  std::uint64_t start_ns_ = 0;
  std::uint64_t end_ns_ = 0;
  std::set<std::pair<ModuleId, std::string>> unsupported_;
  std::set<ModuleId> without_table_;
  std::map<std::string, std::uint64_t> programs_;
};

}  // namespace

std::optional<Snapshot> SnapshotMerger::merge(const std::vector<const Snapshot*>& parts, std::uint64_t peak_live_bytes,
                                              std::optional<std::uint64_t> most) {
  Sum sum(numbers_);
  modules_.clear();
  for (const Snapshot* part : parts) {
    if (!sum.add(*part)) return std::nullopt;
    modules_.push_back(numbers_.modules_of_part());
  }
  return sum.take(peak_live_bytes, most);
}

}  // namespace hawk
