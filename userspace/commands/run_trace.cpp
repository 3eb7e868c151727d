#include "userspace/commands/run_trace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "userspace/attach/environment.h"
#include "userspace/base/log.h"
#include "userspace/base/repeated_signals.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/traced_processes.h"
#include "userspace/launch/command_end.h"
#include "userspace/launch/launch.h"

namespace hawk {
namespace {

/// Announces, if requested, that every probe is in place: a newline, as expected by s6 and similar
/// supervisors.
void announce_ready(const TraceOptions& options) {
  if (!options.ready_fd) return;
  if (const int error = write_all(*options.ready_fd, "\n"); error != 0) {
    log_warning(fmt::format("write to --ready-fd {}: {}", *options.ready_fd, std::strerror(error)));
  }
  ::close(*options.ready_fd);
}

/// With a copy in the command, a reader would wait for the end of the command.
void keep_from_command(const TraceOptions& options) {
  if (options.ready_fd) ::fcntl(*options.ready_fd, F_SETFD, FD_CLOEXEC);
}

/// The requirements that are not met; empty: all are met.
std::string broken_demands(const Required& required, const Snapshot& snapshot) {
  std::string text;
  const auto add = [&](bool is_broken, std::string_view what) {
    if (is_broken) text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  add(required.numbers && !snapshot.numbers_exact(), "the numbers are not exact");
  add(required.children && !snapshot.losses.keep(Promise::kChildren), "child processes were not traced");
  add(required.stacks && !snapshot.stacks_complete(), "the stacks are not complete");
  return text;
}

/// nullopt: no fault. `whose`: if there are several, the process of the snapshot, for the message.
std::optional<Error> find_fault(const TraceOptions& options, const Snapshot& snapshot, const std::string& whose) {
  if (snapshot.trace.verified == std::optional<bool>(false)) {
    return Error{ExitCode::kInternal,
                 fmt::format("verify: {}the counters disagree with the live table: this is a bug in hawktrace", whose),
                 ""};
  }
  const std::string broken = broken_demands(options.required, snapshot);
  if (broken.empty()) return std::nullopt;
  return Error{ExitCode::kNotExact, fmt::format("--require-exact: {}{}: the end of the report says why", whose, broken),
               ""};
}

/// Reports the first faults; a bug in hawktrace takes precedence.
std::optional<ExitCode> find_faults(const TraceOptions& options, const std::vector<Snapshot>& snapshots) {
  constexpr std::size_t kMostShown = 10;
  std::optional<ExitCode> worst;
  std::size_t count = 0;
  for (const Snapshot& snapshot : snapshots) {
    const std::string whose = snapshots.size() == 1 ? "" : fmt::format("process {}: ", snapshot.target().pid);
    const std::optional<Error> fault = find_fault(options, snapshot, whose);
    if (!fault) continue;
    if (worst != std::optional(ExitCode::kInternal)) worst = fault->exit_code;
    if (++count <= kMostShown) log_error(*fault);
  }
  if (count > kMostShown) {
    log_info(fmt::format("the same applies to {} more of {} processes; targets in JSON lists all", count - kMostShown,
                         snapshots.size()));
  }
  return worst;
}

/// The numbers counted so far are still available.
Result<bool> watch_while_memory_lasts(TraceUse& use, TracedProcesses& traced, SignalSource& signals,
                                      SignalRelay* relay) {
  try {
    return use.watch(traced, signals, relay);
  } catch (const std::bad_alloc&) {
    log_warning("the trace ends here: out of memory");
    for (const auto& trace : traced.traces()) trace->note_ended_early();
    return false;
  }
}

void notice_begin(const Traces& traces) {
  constexpr std::size_t kMostNamed = 12;
  std::string pids;
  for (std::size_t i = 0; i < std::min(traces.size(), kMostNamed); ++i) {
    pids += fmt::format("{}{}", i == 0 ? "" : ", ", traces[i]->pid());
  }
  if (traces.size() > kMostNamed) pids += fmt::format(" and {} more", traces.size() - kMostNamed);
  log_info(fmt::format("tracing process{} {}; Ctrl-C ends the trace", traces.size() == 1 ? "" : "es", pids));
}

Result<std::vector<Snapshot>> end_traces(TraceGroup& group, TraceGroup::EndOptions options) {
  HAWK_TRY_VOID(group.end_all(options));
  std::vector<Snapshot> snapshots;
  for (const auto& trace : group.traces()) snapshots.push_back(trace->snapshot());
  return snapshots;
}

}  // namespace

Result<int> run_trace(const TraceOptions& options, TraceUse& use) {
  HAWK_TRY_VOID(check_environment());
  keep_from_command(options);
  // From here on hawktrace cleans up before a signal ends it.
  SignalSource signals =
      HAWK_TRY(SignalSource::make(options.trace.command.empty() ? SignalScope::kOurs : SignalScope::kOfACommand));
  HAWK_TRY_VOID(use.open());
  const std::unique_ptr<Debuginfod> debuginfod = HAWK_TRY(Debuginfod::make(options.debuginfod, options.verbosity));
  std::optional<LaunchedCommand> command;
  if (options.starts_command()) {
    command.emplace(HAWK_TRY(LaunchedCommand::make(options.trace.command, options.user ? &*options.user : nullptr)));
  }
  const std::unique_ptr<TracedProcesses> traced =
      HAWK_TRY(TracedProcesses::attach(options, command ? &*command : nullptr));
  const Traces& traces = traced->traces();
  SignalRelay relay(traces.front()->pid(), traces.front()->pid_fd());
  HAWK_TRY_VOID(use.open_for(traces));

  // From here on allocations count.
  for (const auto& trace : traces) trace->begin();
  announce_ready(options);
  if (command) HAWK_TRY_VOID(command->release());
  if (!command && use.wants_notice()) notice_begin(traces);
  const bool ended_by_user = HAWK_TRY(watch_while_memory_lasts(use, *traced, signals, command ? &relay : nullptr));

  std::optional<RepeatedSignals> repeated;
  if (ended_by_user) repeated.emplace(signals);
  // The numbers must not be lost.
  allow_emergency_memory();
  // Beyond this point no probe is left. A second Ctrl-C now ends hawktrace at once. No debug file is fetched for
  // symbols that are read during this time: their readers would wait too.
  const std::vector<Snapshot> last = HAWK_TRY(
      end_traces(traced->group(), {.verify = options.verify, .reads_symbols = use.wants_names() && !debuginfod}));
  if (repeated) {
    repeated->restore_defaults();
  } else {
    signals.restore_defaults_after_one();
  }
  // Not earlier: hawktrace does not wait for a network while it traces.
  if (debuginfod) {
    for (const auto& trace : traces) {
      trace->find_debug_files_with([&](const std::string& id) { return debuginfod->find(id); });
    }
  }
  HAWK_TRY_VOID(use.finish(traces, last));
  int status = 0;
  if (command) status = finish_command(*command, traces.front()->pid_fd(), options.kill_command, signals, relay);
  const std::optional<ExitCode> fault = find_faults(options, last);
  return fault ? exit_status_of(*fault, options.starts_command()) : status;
}

}  // namespace hawk
