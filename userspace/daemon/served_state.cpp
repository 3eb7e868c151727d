#include "userspace/daemon/served_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "userspace/attach/tracing_usage.h"
#include "userspace/base/own_heap.h"
#include "userspace/base/printable.h"
#include "userspace/base/unix_time.h"
#include "userspace/daemon/heap_symbolizer.h"
#include "userspace/report/units.h"
#include "userspace/tables/merged_snapshot.h"

namespace hawk {
namespace {

std::string readable(std::uint64_t bytes) { return format_bytes(bytes, NumberStyle::kReadable); }

std::string state_of(const TargetState& target, const TargetProcess& process) {
  if (process.trace != nullptr) return "traced";
  if (!process.objection.empty()) return "left out: " + process.objection;
  return target.config.mode == TargetMode::kWatch ? "watched" : "not traced";
}

ServedProcess served(const TargetState& target, const TargetProcess& process) {
  ServedProcess served = {.pid = process.facts.pid,
                          .comm = process.facts.comm,
                          .exe = process.facts.executable,
                          .start_unix_ns = process.found_unix_ns,
                          .state = state_of(target, process),
                          .memory = process.memory};
  if (process.trace == nullptr) return served;
  served.totals = process.totals;
  served.numbers_exact = process.losses.keep(Promise::kNumbers);
  if (served.memory) served.memory->live_bytes = process.totals.live_bytes();
  return served;
}

std::uint64_t anonymous_bytes(const ServedProcess& process) {
  return process.memory ? process.memory->anonymous_bytes + process.memory->swapped_bytes : 0;
}

std::string process_line(const ServedTarget& target, const ServedProcess& process, std::size_t width) {
  return fmt::format("{:>8} {:<15} {:<{}} {:>12} {:>12}  {}{}\n", process.pid, printable_unicode(process.comm),
                     target.name, width, readable(process.totals.live_bytes()), readable(anonymous_bytes(process)),
                     printable_unicode(process.state), process.numbers_exact ? "" : ", NOT exact");
}

std::string state_text(const ServedTarget& target) {
  std::string text = target.state;
  if (target.retry_ns) text += fmt::format(", next attempt in {}", format_duration(*target.retry_ns));
  if (!target.losses.keep(Promise::kNumbers)) text += ", NOT exact";
  return text;
}

std::string status_line(const ServedTarget& target, std::size_t width) {
  std::uint64_t anonymous = 0;
  for (const ServedProcess& process : target.processes) anonymous += anonymous_bytes(process);
  constexpr double kPercent = 100;
  return fmt::format("{:<{}} {:<6} {:>5} {:>12} {:>12} {:>7.1f} %  {}\n", target.name, width, target.mode,
                     target.processes.size(), readable(target.live_bytes), readable(anonymous),
                     target.overhead * kPercent, state_text(target));
}

}  // namespace

ServedState::ServedState(const Targets& targets, TargetTracing& tracing, std::string config_path)
    : targets_(targets), tracing_(tracing), config_path_(std::move(config_path)), start_unix_ns_(unix_time_ns()) {}

std::vector<ServedTarget> ServedState::targets() const {
  const auto now = std::chrono::steady_clock::now();
  std::vector<ServedTarget> all;
  for (const auto& [name, target] : targets_) {
    ServedTarget served_target = {.name = name,
                                  .mode = std::string(target_mode_name(target->config.mode)),
                                  .state = std::string(target->state_name(now)),
                                  .totals = target->counts.totals,
                                  .processes_seen = target->counts.processes_seen,
                                  .processes_ended = target->counts.processes_ended,
                                  .processes_crashed = target->counts.processes_crashed,
                                  .oom_kills = target->counts.oom_kills,
                                  .traces_begun = target->counts.traces_begun,
                                  .budget_detaches = target->counts.budget_detaches,
                                  .losses = target->counts.losses,
                                  .calls = target->counts.calls,
                                  .overhead = target->overhead,
                                  .cgroup = target->cgroup,
                                  .last_recording = target->recorder.last_path(),
                                  .recording_bytes = target->recorder.size_bytes()};
    if (!target->budget.may_trace(now)) {
      served_target.retry_ns = static_cast<std::uint64_t>(target->budget.left(now).count());
    }
    // As many calls allocate as free.
    if (const auto& costs = tracing_.costs())
      served_target.cost_per_call_ns = costs->emulated_ns + costs->return_ns / 2;
    for (const auto& [pid, process] : target->processes) {
      served_target.processes.push_back(served(*target, process));
      if (process.trace == nullptr) continue;
      served_target.live_bytes += process.totals.live_bytes();
      served_target.live_count += process.totals.live_count();
    }
    all.push_back(std::move(served_target));
  }
  return all;
}

ServedHost ServedState::host() const {
  return {.start_unix_ns = start_unix_ns_,
          .cpu_ns = own_cpu_ns(),
          .resident_bytes = own_resident_bytes(),
          .heap_bytes = own_heap_bytes(),
          .table_bytes = tracing_.table_bytes(),
          .drains = tracing_.drains(),
          .longest_drain_ns = static_cast<std::uint64_t>(tracing_.longest_drain().count()),
          .reloads = reloads_,
          .config_path = config_path_};
}

Result<ServedHeap> ServedState::heap(const std::string& name) {
  const auto target = targets_.find(name);
  if (target == targets_.end()) return fail(ExitCode::kNoTarget, fmt::format("there is no target {}", name));
  tracing_.drain_now();
  std::vector<ProcessTrace*> traces;
  std::vector<Snapshot> snapshots;
  for (const auto& [pid, process] : target->second->processes) {
    if (process.trace == nullptr) continue;
    traces.push_back(process.trace);
    snapshots.push_back(process.trace->snapshot());
  }
  if (traces.empty()) return fail(ExitCode::kNoTarget, fmt::format("no process of {} is traced", name));
  HeapSymbolizer::Files files;
  std::optional<Snapshot> heap;
  if (traces.size() == 1) {
    heap = std::move(snapshots.front());
    for (std::size_t i = 0; i < heap->modules.size(); ++i) {
      files.emplace_back(ModuleId(i), traces.front()->locate(ModuleId(i)));
    }
  } else {
    SnapshotMerger merger;
    std::vector<const Snapshot*> parts;
    std::uint64_t live = 0;
    for (const Snapshot& snapshot : snapshots) {
      parts.push_back(&snapshot);
      live += snapshot.totals.live_bytes();
    }
    heap = merger.merge(parts, live);
    if (!heap) return fail(ExitCode::kNotExact, fmt::format("the sums of the processes of {} are too large", name));
    const std::vector<ModuleOrigin>& origins = merger.numbers().origins();
    for (std::size_t i = 0; i < origins.size(); ++i) {
      files.emplace_back(ModuleId(i), traces[origins[i].part]->locate(origins[i].module));
    }
  }
  return ServedHeap{std::move(*heap), std::make_shared<HeapSymbolizer>(known_symbols_, std::move(files))};
}

std::string ServedState::status_text() const {
  const std::vector<ServedTarget> all = targets();
  std::size_t width = 20;
  for (const ServedTarget& target : all) width = std::max(width, target.name.size());
  std::string text = fmt::format("{:<{}} {:<6} {:>5} {:>12} {:>12} {:>9}  {}\n", "TARGET", width, "MODE", "PROCS",
                                 "LIVE", "ANONYMOUS", "OVERHEAD", "STATE");
  for (const ServedTarget& target : all) text += status_line(target, width);
  text += fmt::format("\n{:>8} {:<15} {:<{}} {:>12} {:>12}  {}\n", "PID", "COMMAND", "TARGET", width, "LIVE",
                      "ANONYMOUS", "STATE");
  for (const ServedTarget& target : all) {
    for (const ServedProcess& process : target.processes) text += process_line(target, process, width);
  }
  return text;
}

}  // namespace hawk
