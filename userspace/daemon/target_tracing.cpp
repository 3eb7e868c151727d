#include "userspace/daemon/target_tracing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/unix_time.h"
#include "userspace/report/units.h"
#include "userspace/selection/proc_root.h"
#include "userspace/traces/chosen_process.h"

namespace hawk {
namespace {

TraceConfig trace_config(const DaemonConfig& config, std::vector<int> pids) {
  TraceConfig trace;
  trace.several = true;
  trace.follows_children = std::any_of(config.targets.begin(), config.targets.end(),
                                       [](const TargetConfig& target) { return target.follows_children; });
  trace.may_do_without_children = true;
  trace.interval = config.interval;
  trace.histograms = std::any_of(config.targets.begin(), config.targets.end(), [](const TargetConfig& target) {
    return target.recording.wants_lives() && target.recording.histograms;
  });
  trace.links = config.links;
  trace.max_blocks = config.max_blocks;
  trace.max_stacks = config.max_stacks;
  trace.max_memory_bytes = config.max_memory_bytes;
  trace.first_processes = std::move(pids);
  return trace;
}

/// Whether it is in this cgroup of version 2, or below it.
bool is_below(const ProcessFacts& process, const std::string& cgroup) {
  return std::any_of(process.cgroups.begin(), process.cgroups.end(), [&](const CgroupMembership& its) {
    return its.hierarchy.empty() && (cgroup == "/" || its.path == cgroup || its.path.starts_with(cgroup + "/"));
  });
}

}  // namespace

std::vector<int> TargetTracing::pids() const {
  std::vector<int> all;
  for (const auto& [name, target] : targets_) {
    for (const auto& [pid, process] : target->processes) all.push_back(pid);
  }
  return all;
}

Result<void> TargetTracing::load(const DaemonConfig& config) {
  used_at_ = std::chrono::steady_clock::now();
  if (is_loaded()) return {};
  HAWK_TRY_VOID(groups_.load(trace_config(config, pids())));
  costs_ = groups_.newest().costs();
  return {};
}

std::optional<std::uint32_t> TargetTracing::processes_begun() {
  return is_loaded() ? std::optional(groups_.newest().processes_begun()) : std::nullopt;
}

void TargetTracing::attach(TargetState& target, TargetProcess& process) {
  const Result<ProcRoot> proc = ProcRoot::open();
  const std::optional<ChosenProcess> held = proc ? hold(*proc, process.facts) : std::nullopt;
  if (!held) return;  // its end will be noticed
  Result<ProcessTrace*> trace = attach_to(groups_.newest(), *held, false);
  if (!trace) {
    if (trace.error().exit_code == ExitCode::kNoTarget) return;
    process.objection = trace.error().what;
    if (++process.failures == TargetProcess::kMostTries) {
      log_warning(fmt::format("{}: process {} ({}) is left out: {}", target.config.name, process.facts.pid,
                              process.facts.comm, process.objection));
    }
    return;
  }
  (*trace)->begin();
  process.begin_trace(**trace);
  ++known_traces_;
  ++target.counts.traces_begun;
  log_verbose(fmt::format("{}: tracing process {} ({})", target.config.name, process.facts.pid, process.facts.comm));
}

void TargetTracing::update_traces(Time now) {
  if (!is_loaded()) return;
  for (const auto& [name, target] : targets_) {
    if (!target->wants_traces(now)) {
      if (target->is_traced()) detach(*target);
      continue;
    }
    std::size_t traced = target->traced_count();
    for (auto& [pid, process] : target->processes) {
      if (!process.may_be_traced()) continue;
      if (traced >= target->config.max_processes) {
        process.objection = "max-processes of the target are traced";
        if (!std::exchange(target->reported_too_many, true)) {
          log_warning(fmt::format("{}: it has more than max-processes, {}, processes: further ones are left out", name,
                                  target->config.max_processes));
        }
        continue;
      }
      attach(*target, process);
      if (process.trace != nullptr) ++traced;
    }
  }
}

/// The target of the process that has started it, if its children are followed.
TargetState* TargetTracing::target_of_maker(const ProcessTrace& trace) {
  if (!trace.maker_pid()) return nullptr;
  for (const auto& [name, target] : targets_) {
    const auto maker = target->processes.find(*trace.maker_pid());
    if (target->config.follows_children && maker != target->processes.end() && maker->second.trace != nullptr) {
      return target.get();
    }
  }
  const auto ended = ended_makers_.find(*trace.maker_pid());
  const auto target = ended != ended_makers_.end() ? targets_.find(ended->second) : targets_.end();
  return target != targets_.end() ? target->second.get() : nullptr;
}

/// By who has started it, or by what it is.
TargetState* TargetTracing::owner_of(const ProcessTrace& trace, const std::optional<ProcessFacts>& facts) {
  if (TargetState* const target = target_of_maker(trace)) return target;
  for (const auto& [name, target] : targets_) {
    if (facts && target->selector.matches(*facts)) return target.get();
  }
  return nullptr;
}

void TargetTracing::adopt(ProcessTrace& trace) {
  const Result<ProcRoot> proc = ProcRoot::open();
  std::optional<ProcessFacts> facts = proc ? read_facts(*proc, trace.pid()) : std::nullopt;
  TargetState* const target = owner_of(trace, facts);
  const Time now = std::chrono::steady_clock::now();
  if (target == nullptr || !target->wants_traces(now)) {
    end_traces({&trace});
    groups_.remove(trace);
    return;
  }
  ++known_traces_;
  ++target->counts.traces_begun;
  const auto before = target->processes.find(trace.pid());
  if (before != target->processes.end() && before->second.trace != nullptr) {
    // Its number is another's. Nothing else ends now: others that are about to be adopted may be its children.
    before->second.has_ended = true;
    end_processes({{target, &before->second}}, now);
  }
  const auto [known, is_new] = target->processes.try_emplace(trace.pid());
  TargetProcess& process = known->second;
  if (is_new) {
    ++target->counts.processes_seen;
    if (facts) process.facts = std::move(*facts);
    if (process.facts.comm.empty()) process.facts.comm = trace.comm();
    process.facts.pid = trace.pid();
    process.found_unix_ns = unix_time_ns();
  }
  process.begin_trace(trace);
  if (trace.pid_fd() < 0) {
    process.has_ended = true;
    trace.note_target_exited();
  } else if (is_new) {
    process.end_fd = UniqueFd(::fcntl(trace.pid_fd(), F_DUPFD_CLOEXEC, 0));
    watch_end(loop_, process);
  }
}

void TargetTracing::adopt_births() {
  if (groups_.trace_count() == known_traces_) return;
  std::vector<ProcessTrace*> known;
  for (const auto& [name, target] : targets_) {
    for (const auto& [pid, process] : target->processes) known.push_back(process.trace);
  }
  std::sort(known.begin(), known.end());
  std::vector<ProcessTrace*> born;
  for (ProcessTrace* const trace : groups_.traces()) {
    if (!std::binary_search(known.begin(), known.end(), trace)) born.push_back(trace);
  }
  for (ProcessTrace* const trace : born) adopt(*trace);
}

void TargetTracing::end_traces(const std::vector<ProcessTrace*>& traces) {
  const Result<void> ended = groups_.end(traces, {.reads_lives = records_lives()});
  if (!ended) log_warning(ended.error().what);
}

bool TargetTracing::records_lives() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const auto& entry) { return entry.second->config.recording.wants_lives(); });
}

void TargetTracing::read_lives() {
  const Result<void> read = groups_.read_lives();
  if (!read) log_warning(read.error().what);
}

void TargetTracing::detach(TargetState& target, const std::vector<TargetProcess*>& processes) {
  std::vector<ProcessTrace*> traces;
  traces.reserve(processes.size());
  for (const TargetProcess* process : processes) traces.push_back(process->trace);
  end_traces(traces);
  for (TargetProcess* const process : processes) {
    target.count(*process);
    target.recorder.end(*process->trace, process->trace->snapshot());
    groups_.remove(*process->trace);
    process->trace = nullptr;
    --known_traces_;
  }
}

void TargetTracing::detach(TargetState& target) {
  std::vector<TargetProcess*> traced;
  for (auto& [pid, process] : target.processes) {
    if (process.trace != nullptr) traced.push_back(&process);
  }
  if (!traced.empty()) detach(target, traced);
  target.overhead = 0;
}

/// What is known of the end of a process by now, and that it is gone.
void TargetTracing::finish(TargetState& target, TargetProcess& process, Time now) {
  if (!process.wait_status) process.wait_status = read_wait_status(process.facts.pid, process.end_fd.get());
  ProcessEnd end = {.wait_status = process.wait_status};
  const std::optional<int> status = process.wait_status;
  const bool is_killed = !status || (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL);
  end.oom_killed = process.is_oom_victim && is_killed;
  ++target.counts.processes_ended;
  if (end.is_crash()) ++target.counts.processes_crashed;
  if (end.oom_killed) ++target.counts.oom_kills;
  if (process.trace == nullptr) {
    reporter_.report_untraced(target, process, end, now);
    return;
  }
  target.count(process);
  if (target.config.follows_children) ended_makers_.insert_or_assign(process.facts.pid, target.config.name);
  const Snapshot last = process.trace->snapshot();
  const bool is_written = target.recorder.end(*process.trace, last);
  reporter_.report(target, process, end, last, is_written ? target.recorder.last_path() : std::string(), now);
  groups_.remove(*process.trace);
  --known_traces_;
}

Result<void> TargetTracing::watch_oom_kills() {
  oom_victims_.emplace(HAWK_TRY(OomVictims::make()));
  return {};
}

void TargetTracing::note_oom_victims() {
  if (!oom_victims_) return;
  for (const int pid : oom_victims_->take()) {
    for (const auto& [name, target] : targets_) {
      const auto victim = target->processes.find(pid);
      if (victim != target->processes.end()) victim->second.is_oom_victim = true;
    }
  }
}

void TargetTracing::record_before_kill(const std::string& cgroup) {
  constexpr std::chrono::seconds kLongest{1};
  const Time deadline = std::chrono::steady_clock::now() + kLongest;
  drain_now();
  for (const auto& [name, target] : targets_) {
    std::vector<ProcessTrace*> traces;
    std::size_t processes = 0;
    for (auto& [pid, process] : target->processes) {
      if (!is_below(process.facts, cgroup)) continue;
      process.is_oom_victim = true;
      ++processes;
      if (process.trace != nullptr) traces.push_back(process.trace);
    }
    if (processes == 0) continue;
    const bool is_written = !traces.empty() && target->recorder.record_now(traces, deadline);
    log_warning(fmt::format("{}: systemd-oomd is about to kill {} of its processes{}", name, processes,
                            is_written ? fmt::format("; recorded in {}", target->recorder.last_path()) : ""));
  }
}

/// An OOM victim has been announced before it ends.
void TargetTracing::end_ended(Time now) {
  ended_makers_.clear();  // their children have been adopted by now
  note_oom_victims();
  std::vector<std::pair<TargetState*, TargetProcess*>> ended;
  for (const auto& [name, target] : targets_) {
    for (auto& [pid, process] : target->processes)
      if (process.has_ended) ended.emplace_back(target.get(), &process);
  }
  end_processes(ended, now);
}

void TargetTracing::end_processes(const std::vector<std::pair<TargetState*, TargetProcess*>>& ended, Time now) {
  std::vector<ProcessTrace*> ending;
  for (const auto& [target, process] : ended)
    if (process->trace != nullptr) ending.push_back(process->trace);
  if (!ending.empty()) end_traces(ending);
  for (const auto& [target, process] : ended) {
    finish(*target, *process, now);
    forget_end(loop_, *process);
    target->processes.erase(process->facts.pid);
  }
}

void TargetTracing::give_up(TargetState& target, double max_percent, std::string_view whose, Time now) {
  constexpr double kPercent = 100;
  log_warning(fmt::format("{}: its trace is given up: it costs {:.1f} % of a processor, and max-overhead {} is {}",
                          target.config.name, target.overhead * kPercent, whose, max_percent));
  detach(target);
  target.budget.gave_up(now);
  ++target.counts.budget_detaches;
}

/// What the traps of the last interval have cost, at least.
void TargetTracing::weigh_costs(Time now) {
  const Time before = std::exchange(weighed_at_, now).value_or(now);
  const double interval_ns = static_cast<double>(std::chrono::nanoseconds(now - before).count());
  double sum = 0;
  TargetState* dearest = nullptr;
  for (const auto& [name, target] : targets_) {
    const std::uint64_t calls = target->counts.calls - std::exchange(target->calls_before, target->counts.calls);
    const std::uint64_t count = target->counts.totals.allocated_count;
    const std::uint64_t allocations = count - std::exchange(target->allocations_before, count);
    target->overhead = 0;
    if (!costs_ || interval_ns <= 0) continue;
    target->overhead = (static_cast<double>(calls) * static_cast<double>(costs_->emulated_ns) +
                        static_cast<double>(allocations) * static_cast<double>(costs_->return_ns)) /
                       interval_ns;
    sum += target->overhead;
    if (dearest == nullptr || target->overhead > dearest->overhead) dearest = target.get();
  }
  for (const auto& [name, target] : targets_) {
    if (target->is_traced() && target->budget.note(target->overhead, now)) {
      give_up(*target, target->budget.max_percent().value_or(0), "of the target", now);
      return;  // the others by what the next interval costs
    }
  }
  if (host_budget_.note(sum, now) && dearest != nullptr && dearest->is_traced()) {
    give_up(*dearest, host_budget_.max_percent().value_or(0), "of all targets", now);
    host_budget_.gave_up(now);
  }
}

void TargetTracing::record(Time now) {
  for (const auto& [name, target] : targets_) {
    std::vector<ProcessTrace*> traces;
    Counters totals;
    for (auto& [pid, process] : target->processes) {
      if (process.trace == nullptr) continue;
      traces.push_back(process.trace);
      totals += process.trace->totals();
    }
    target->recorder.record_if_due(traces, totals, now, [this] { read_lives(); });
  }
}

void TargetTracing::drain_now() {
  if (known_traces_ == 0) return;
  const auto began = std::chrono::steady_clock::now();
  groups_.drain();
  adopt_births();
  longest_drain_ = std::max<std::chrono::nanoseconds>(longest_drain_, std::chrono::steady_clock::now() - began);
  ++drains_;
  for (const auto& [name, target] : targets_) {
    for (auto& [pid, process] : target->processes) {
      if (process.trace != nullptr) target->count(process);
    }
  }
}

void TargetTracing::drain(Time now) {
  if (known_traces_ != 0) used_at_ = now;
  drain_now();
  end_ended(now);
  weigh_costs(now);
  record(now);
  groups_.make_room([this] { return pids(); });
}

void TargetTracing::unload_if_idle(Time now) {
  constexpr std::chrono::seconds kIdle{60};
  const bool is_wanted = std::any_of(targets_.begin(), targets_.end(),
                                     [](const auto& entry) { return entry.second->config.mode == TargetMode::kExact; });
  if (is_wanted || known_traces_ != 0 || now - used_at_ < kIdle) return;
  groups_.unload();
}

}  // namespace hawk
