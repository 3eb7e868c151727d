#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "userspace/attach/process_trace.h"
#include "userspace/base/event_loop.h"
#include "userspace/base/unique_fd.h"
#include "userspace/daemon/config.h"
#include "userspace/daemon/memory_sampling.h"
#include "userspace/daemon/memory_watch.h"
#include "userspace/daemon/overhead_budget.h"
#include "userspace/daemon/target_recorder.h"
#include "userspace/daemon/target_selector.h"
#include "userspace/selection/process_facts.h"
#include "userspace/tables/counters.h"
#include "userspace/tables/losses.h"

namespace hawk {

/// A process of a target, until its end has been dealt with.
struct TargetProcess {
  ProcessFacts facts;
  std::uint64_t found_unix_ns = 0;
  UniqueFd end_fd = {};           ///< readable once it has ended; none: it had when it was found
  ProcessTrace* trace = nullptr;  ///< nullptr: it is not traced
  std::size_t failures = 0;       ///< attempts to trace what it runs
  std::string objection = {};     ///< why it is not traced, although its target is; empty: it is, or will be
  std::optional<ProcessMemory> memory = {};
  std::optional<MemoryCgroupPath> cgroup = {};
  bool has_ended = false;
  std::optional<int> wait_status = {};
  bool is_oom_victim = false;  ///< the kernel, or systemd-oomd, has said that it kills it for lack of memory
  // As of the last drain, of its trace:
  std::uint64_t exec_epoch = 0;  ///< the program that it runs, of which totals and calls are
  Counters totals = {};
  Losses losses = {};
  std::uint64_t calls = 0;

  /// Nothing has been counted of that one yet.
  void begin_trace(ProcessTrace& begun);

  /// Whether it can still be tried: one that is about to run another program may have no allocator yet.
  bool may_be_traced() const { return trace == nullptr && !has_ended && failures < kMostTries; }

  static constexpr std::size_t kMostTries = 20;
};

/// Has the process, which must stay where it is until forget_end(), noted as ended when it has.
void watch_end(EventLoop& loop, TargetProcess& process);
void forget_end(EventLoop& loop, const TargetProcess& process);

/// What only grows while the daemon runs.
struct TargetCounts {
  Counters totals;
  Losses losses;
  std::uint64_t calls = 0;
  std::uint64_t processes_seen = 0;
  std::uint64_t processes_ended = 0;
  std::uint64_t processes_crashed = 0;
  std::uint64_t oom_kills = 0;
  std::uint64_t traces_begun = 0;
  std::uint64_t budget_detaches = 0;
};

/// A target of the configuration, and what has come of it so far.
struct TargetState {
  using Time = std::chrono::steady_clock::time_point;

  TargetState(const TargetConfig& wanted, const std::string& directory);
  /// What the configuration says now. What has been counted stays.
  void reconfigure(const TargetConfig& wanted);

  /// Whether its processes are to be traced now.
  bool wants_traces(Time now) const;
  bool is_traced() const;
  /// Processes that are traced.
  std::size_t traced_count() const;
  /// "tracing", "idle", ...: what ServedTarget::state has.
  std::string_view state_name(Time now) const;
  /// Takes what the last drain has read of a process that is traced.
  void count(TargetProcess& process);

  TargetConfig config;
  TargetSelector selector;
  std::map<int, TargetProcess> processes;  ///< by number
  OverheadBudget budget;
  MemoryWatch watch;
  TargetRecorder recorder;
  TargetCounts counts;
  std::optional<Time> window_ends;  ///< of a trace that its watch has begun
  Time next_sample{};
  std::optional<CgroupMemory> cgroup;  ///< as of the last sample
  double overhead = 0;                 ///< of one processor, in the last interval
  std::uint64_t calls_before = 0;      ///< counts.calls at its beginning
  std::uint64_t allocations_before = 0;
  std::string reported_objection;  ///< TargetSelector::objection(), which has been said
  bool reported_too_many = false;  ///< the same of max-processes
};

}  // namespace hawk
