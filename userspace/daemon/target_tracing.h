#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/base/result.h"
#include "userspace/daemon/config.h"
#include "userspace/daemon/end_report.h"
#include "userspace/daemon/overhead_budget.h"
#include "userspace/daemon/target_state.h"
#include "userspace/daemon/trace_groups.h"
#include "userspace/tracer/oom_victims.h"

namespace hawk {

/// All targets, by their names.
using Targets = std::map<std::string, std::unique_ptr<TargetState>>;

/// The traces of the processes of all targets, by programs in the kernel that are loaded while any of them is to be
/// traced.
class TargetTracing {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Both must outlive this.
  TargetTracing(EventLoop& loop, Targets& targets, EndReporter reporter)
      : loop_(loop), targets_(targets), reporter_(std::move(reporter)) {}
  TargetTracing(const TargetTracing&) = delete;
  TargetTracing& operator=(const TargetTracing&) = delete;

  /// Loads the programs, unless they are. Fails with kPrivilege.
  Result<void> load(const DaemonConfig& config);
  bool is_loaded() const { return groups_.is_loaded(); }
  /// nullopt: not loaded.
  std::optional<std::uint32_t> processes_begun();

  /// Attaches to processes that are to be traced, and detaches from those that are not.
  void update_traces(Time now);
  /// Reads the kernel's counters, deals with processes that have ended, and with what tracing costs.
  void drain(Time now);
  /// The same, but for costs: when a heap is asked for in between.
  void drain_now();
  /// Detaches from all processes of a target, and writes their last intervals.
  void detach(TargetState& target);
  /// From now on it is known for certain whom the kernel kills for lack of memory.
  Result<void> watch_oom_kills();
  /// systemd-oomd is about to kill what is in this cgroup, and below it: what is known of it is written within a
  /// second.
  void record_before_kill(const std::string& cgroup);
  /// Unloads the programs if nothing has been traced for a while, and no target is to be traced always.
  void unload_if_idle(Time now);

  void set_host_budget(std::optional<double> max_percent) { host_budget_.set_limits(max_percent, kHostRetry); }
  const std::optional<ProbeCosts>& costs() const { return costs_; }
  std::uint64_t table_bytes() const { return groups_.table_bytes(); }
  std::uint64_t drains() const { return drains_; }
  std::chrono::nanoseconds longest_drain() const { return longest_drain_; }

 private:
  static constexpr std::chrono::nanoseconds kHostRetry = std::chrono::minutes(1);

  void attach(TargetState& target, TargetProcess& process);
  void adopt_births();
  void adopt(ProcessTrace& trace);
  TargetState* target_of_maker(const ProcessTrace& trace);
  TargetState* owner_of(const ProcessTrace& trace, const std::optional<ProcessFacts>& facts);
  void note_oom_victims();
  void end_ended(Time now);
  void end_processes(const std::vector<std::pair<TargetState*, TargetProcess*>>& ended, Time now);
  void finish(TargetState& target, TargetProcess& process, Time now);
  void detach(TargetState& target, const std::vector<TargetProcess*>& processes);
  void end_traces(const std::vector<ProcessTrace*>& traces);
  /// Whether the recordings of any target have the lives of blocks.
  bool records_lives() const;
  void read_lives();
  void weigh_costs(Time now);
  void give_up(TargetState& target, double max_percent, std::string_view whose, Time now);
  void record(Time now);
  std::vector<int> pids() const;

  EventLoop& loop_;
  Targets& targets_;
  EndReporter reporter_;
  std::optional<OomVictims> oom_victims_;
  TraceGroups groups_{loop_, [this] { adopt_births(); }};
  std::size_t known_traces_ = 0;  ///< of the groups': those that belong to a process of a target
  /// Names of the targets of processes that have just ended, by their ids: their last children become known after that.
  std::map<int, std::string> ended_makers_;
  std::optional<ProbeCosts> costs_;
  OverheadBudget host_budget_{std::nullopt, kHostRetry};
  std::optional<Time> weighed_at_;
  Time used_at_{};  ///< when something was traced last
  std::uint64_t drains_ = 0;
  std::chrono::nanoseconds longest_drain_{};
};

}  // namespace hawk
