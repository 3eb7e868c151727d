#include "userspace/commands/run_trace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/attach/environment.h"
#include "userspace/base/log.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/process_choice.h"
#include "userspace/launch/command_end.h"
#include "userspace/launch/launch.h"

namespace hawk {
namespace {

/// Tells, where that was asked for, that every probe is in place: a newline, as s6 and systemd-notify-like supervisors
/// expect.
void tell_ready(const TraceOptions& options) {
  if (!options.ready_fd) return;
  if (const int error = write_all(*options.ready_fd, "\n"); error != 0) {
    log_warning(fmt::format("write to --ready-fd {}: {}", *options.ready_fd, std::strerror(error)));
  }
  ::close(*options.ready_fd);
}

/// A copy in the command would keep a reader waiting for the end.
void keep_from_command(const TraceOptions& options) {
  if (options.ready_fd) ::fcntl(*options.ready_fd, F_SETFD, FD_CLOEXEC);
}

/// What was demanded and is not so; empty: nothing.
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

/// nullopt: nothing is wrong.
std::optional<ExitCode> find_fault(const TraceOptions& options, const Snapshot& snapshot) {
  if (snapshot.trace.verified == std::optional<bool>(false)) {
    log_error(
        {ExitCode::kInternal, "verify: the counters disagree with the live table: this is a bug of hawktrace", ""});
    return ExitCode::kInternal;
  }
  const std::string broken = broken_demands(options.required, snapshot);
  if (broken.empty()) return std::nullopt;
  log_error({ExitCode::kNotExact, fmt::format("--require-exact: {}: the end of the report says why", broken), ""});
  return ExitCode::kNotExact;
}

/// What was counted so far is still to be had.
Result<bool> watch_while_memory_lasts(TraceUse& use, ProcessTrace& trace, SignalSource& signals, SignalRelay* relay) {
  try {
    return use.watch(trace, signals, relay);
  } catch (const std::bad_alloc&) {
    log_warning("the trace ends here: no memory is left");
    trace.note_ended_early();
    return false;
  }
}

}  // namespace

Result<int> run_trace(const TraceOptions& options, TraceUse& use) {
  HAWK_TRY_VOID(check_environment());
  keep_from_command(options);
  // From here on a signal that ends us first lets us clean up.
  SignalSource signals =
      HAWK_TRY(SignalSource::make(options.trace.command.empty() ? SignalScope::kOurs : SignalScope::kOfACommand));
  HAWK_TRY_VOID(use.open());
  const std::unique_ptr<Debuginfod> debuginfod = HAWK_TRY(Debuginfod::make(options.debuginfod, options.verbosity));
  TraceConfig config = options.trace;
  std::optional<ChosenProcess> process;
  std::optional<LaunchedCommand> command;
  if (options.starts_command()) {
    command.emplace(HAWK_TRY(LaunchedCommand::make(config.command, options.user ? &*options.user : nullptr)));
  } else {
    process.emplace(HAWK_TRY(choose_process(options.processes)));
    config.pid = process->pid;
  }

  // Every probe in place, nothing counted yet.
  const std::unique_ptr<ProcessTrace> trace = HAWK_TRY(ProcessTrace::make(config, command ? &*command : nullptr));
  if (process) HAWK_TRY_VOID(process->handle.require_same());
  SignalRelay relay(trace->pid(), trace->pid_fd());
  HAWK_TRY_VOID(use.open_for(*trace));

  // From here on allocations count.
  trace->begin();
  tell_ready(options);
  if (command) HAWK_TRY_VOID(command->release());
  if (!command && use.wants_notice()) {
    log_info(fmt::format("tracing process {}; Ctrl-C ends the trace", trace->pid()));
  }
  const bool ended_by_user = HAWK_TRY(watch_while_memory_lasts(use, *trace, signals, command ? &relay : nullptr));

  // What was counted has been paid for.
  allow_emergency_memory();
  // Beyond this point no probe is left. A second Ctrl-C now ends us at once.
  // No debug file is fetched for symbols that are read meanwhile: then they wait, too.
  HAWK_TRY_VOID(trace->end(options.verify, use.wants_names() && !debuginfod));
  if (ended_by_user) {
    signals.restore_defaults();
  } else {
    signals.restore_defaults_after_one();
  }
  // No sooner: while it traces, hawktrace waits for no network.
  if (debuginfod) trace->find_debug_files_with([&](const std::string& id) { return debuginfod->find(id); });
  const Snapshot snapshot = trace->snapshot();
  HAWK_TRY_VOID(use.finish(*trace, snapshot));
  int status = 0;
  if (command) status = finish_command(*command, trace->pid_fd(), options.kill_command, signals, relay);
  const std::optional<ExitCode> fault = find_fault(options, snapshot);
  return fault ? exit_status_of(*fault, options.starts_command()) : status;
}

}  // namespace hawk
