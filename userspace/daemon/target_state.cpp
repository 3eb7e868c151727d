#include "userspace/daemon/target_state.h"

#include <algorithm>
#include <utility>

#include "userspace/daemon/process_end.h"

namespace hawk {
namespace {

std::uint64_t added_since(std::uint64_t before, std::uint64_t now) { return now < before ? now : now - before; }

void note_ended(TargetProcess& process) {
  process.has_ended = true;
  process.wait_status = read_wait_status(process.facts.pid, process.end_fd.get());
  if (process.trace != nullptr) process.trace->note_target_exited();
}

}  // namespace

void TargetProcess::begin_trace(ProcessTrace& begun) {
  trace = &begun;
  objection.clear();
  exec_epoch = begun.exec_epoch();
  totals = {};
  losses = {};
  calls = 0;
}

void watch_end(EventLoop& loop, TargetProcess& process) {
  if (!process.end_fd) return note_ended(process);
  loop.watch(process.end_fd.get(), [&loop, &process](short) -> Result<void> {
    loop.forget(process.end_fd.get());
    note_ended(process);
    return {};
  });
}

void forget_end(EventLoop& loop, const TargetProcess& process) {
  if (process.end_fd) loop.forget(process.end_fd.get());
}

TargetState::TargetState(const TargetConfig& wanted, const std::string& directory)
    : config(wanted),
      selector(wanted),
      budget(wanted.max_overhead, wanted.overhead_retry),
      watch(wanted.watch),
      recorder(wanted.name, wanted.recording, directory) {}

void TargetState::reconfigure(const TargetConfig& wanted) {
  config = wanted;
  selector = TargetSelector(wanted);
  budget.set_limits(wanted.max_overhead, wanted.overhead_retry);
  watch.set_rules(wanted.watch);
  recorder.set_rules(wanted.recording);
  for (auto& [pid, process] : processes) process.failures = 0;
}

bool TargetState::wants_traces(Time now) const {
  switch (config.mode) {
    case TargetMode::kExact:
      return budget.may_trace(now);
    case TargetMode::kWatch:
      return window_ends && now < *window_ends && budget.may_trace(now);
    case TargetMode::kOff:
      break;
  }
  return false;
}

std::size_t TargetState::traced_count() const {
  return static_cast<std::size_t>(std::count_if(processes.begin(), processes.end(),
                                                [](const auto& entry) { return entry.second.trace != nullptr; }));
}

bool TargetState::is_traced() const { return traced_count() != 0; }

std::string_view TargetState::state_name(Time now) const {
  if (config.mode == TargetMode::kOff) return "off";
  if (!budget.may_trace(now)) return "over budget";
  if (is_traced()) return "tracing";
  if (processes.empty()) return "idle";
  return config.mode == TargetMode::kWatch ? "watching" : "not traced";
}

void TargetState::count(TargetProcess& process) {
  const ProcessTrace& trace = *process.trace;
  const std::uint64_t calls = trace.totals().allocated_count + trace.totals().freed_count + trace.frees_of_untraced();
  if (std::exchange(process.exec_epoch, trace.exec_epoch()) != trace.exec_epoch()) {
    // Each program counts from the beginning, but for losses.
    process.totals = {};
    process.calls = 0;
  }
  Counters added = trace.totals();
  added -= process.totals;
  counts.totals += added;
  counts.calls += added_since(process.calls, calls);
  for (std::size_t i = 0; i < HAWK_LOSS_COUNT; ++i)
    counts.losses.counts[i] += added_since(process.losses.counts[i], trace.losses().counts[i]);
  process.totals = trace.totals();
  process.losses = trace.losses();
  process.calls = calls;
}

}  // namespace hawk
