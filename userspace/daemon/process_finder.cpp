#include "userspace/daemon/process_finder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/base/process_file.h"
#include "userspace/base/unix_time.h"
#include "userspace/process/process.h"

namespace hawk {
namespace {

/// The number that was given to a process or thread last: it changes with each fork, and is cheap to read.
std::string read_last_pid() {
  const Result<std::string> loadavg = read_whole_file("/proc/loadavg");
  return loadavg ? loadavg->substr(loadavg->rfind(' ') + 1) : std::string();
}

/// A process with these facts, held before they are read again: what had them has the descriptor.
std::optional<TargetProcess> take(const ProcessFacts& facts) {
  ProcessHandle handle(facts.pid);
  const Result<ProcRoot> proc = ProcRoot::open();
  const std::optional<ProcessFacts> now = proc ? read_facts(*proc, facts.pid) : std::nullopt;
  if (!now || now->start_ticks != facts.start_ticks) return std::nullopt;
  TargetProcess process = {.facts = facts, .found_unix_ns = unix_time_ns()};
  process.end_fd = handle.take_fd();
  return process;
}

}  // namespace

bool ProcessFinder::wants_traces(Time now) const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [now](const auto& entry) { return entry.second->wants_traces(now); });
}

/// A process that may be about to run another program: not one that is left out because there are too many.
bool ProcessFinder::has_open(Time now) const {
  return std::any_of(targets_.begin(), targets_.end(), [now](const auto& entry) {
    const TargetState& target = *entry.second;
    return target.wants_traces(now) && std::any_of(target.processes.begin(), target.processes.end(), [](const auto& p) {
             const TargetProcess& its = p.second;
             return its.may_be_traced() && (its.failures != 0 || its.objection.empty());
           });
  });
}

void ProcessFinder::look_if_due(std::optional<std::uint32_t> begun, Time now) {
  constexpr std::chrono::seconds kAll{10};
  if (now < next_look_) return;
  std::string last_pid = read_last_pid();
  const bool is_all = now - looked_at_all_ >= kAll;
  const bool has_begun = begun != begun_ || last_pid != last_pid_;
  begun_ = begun;
  last_pid_ = std::move(last_pid);
  if (is_all || has_begun || table_.has_young(now) || has_open(now)) look(is_all, now);
}

void ProcessFinder::resolve(TargetState& target, const std::vector<ProcessFacts>& processes,
                            const std::vector<CgroupMount>& mounts, bool all) {
  target.selector.look(processes, mounts, all);
  const std::string& objection = target.selector.objection();
  if (objection == target.reported_objection) return;
  target.reported_objection = objection;
  if (!objection.empty()) log_warning(fmt::format("{}: {}", target.config.name, objection));
}

/// For no more than a small part of the time. What is only watched need not be found at once.
void ProcessFinder::look(bool all, Time now) {
  constexpr int kPartOfTime = 50;
  constexpr std::chrono::seconds kWatchedEvery{1};
  const Result<ProcRoot> proc = ProcRoot::open();
  if (!proc) return;
  if (all) {
    looked_at_all_ = now;
    mounts_ = parse_cgroup_mounts(proc->read("self/mountinfo").value_or(""));
  }
  const Time began = std::chrono::steady_clock::now();
  table_.look(*proc, ::getpid(), all, now);
  const std::vector<ProcessFacts> processes = table_.all();
  for (const auto& [name, target] : targets_) {
    if (target->config.mode != TargetMode::kOff) resolve(*target, processes, mounts_, all);
  }
  offer(all ? processes : table_.fresh());
  const std::chrono::nanoseconds rest = kPartOfTime * (std::chrono::steady_clock::now() - began);
  next_look_ = now + (wants_traces(now) ? rest : std::max<std::chrono::nanoseconds>(rest, kWatchedEvery));
}

void ProcessFinder::offer(const std::vector<ProcessFacts>& processes) {
  for (const ProcessFacts& process : processes) offer(process);
}

void ProcessFinder::offer(const ProcessFacts& process) {
  for (const auto& [name, target] : targets_) {
    const auto known = target->processes.find(process.pid);
    if (known == target->processes.end()) continue;
    TargetProcess& its = known->second;
    if (its.facts.start_ticks != process.start_ticks) return;  // the end of the one before will be dealt with first
    if (its.facts.executable != process.executable) its.failures = 0;
    its.facts = process;
    its.cgroup = memory_cgroup_of(process, mounts_);  // it may have been moved
    return;
  }
  for (const auto& [name, target] : targets_) {
    if (target->config.mode == TargetMode::kOff || !target->selector.matches(process)) continue;
    std::optional<TargetProcess> taken = take(process);
    if (!taken) return;
    taken->cgroup = memory_cgroup_of(process, mounts_);
    ++target->counts.processes_seen;
    watch_end(loop_, target->processes.emplace(process.pid, std::move(*taken)).first->second);
    return;
  }
}

}  // namespace hawk
