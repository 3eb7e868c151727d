// What hawktrace does where no other command is named: it traces one process, and reports.
#include "userspace/commands/trace.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "userspace/attach/environment.h"
#include "userspace/attach/process_trace.h"
#include "userspace/base/log.h"
#include "userspace/base/signal_source.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/command.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/commands/live_screen_choice.h"
#include "userspace/commands/options.h"
#include "userspace/commands/trace_loop.h"
#include "userspace/commands/trace_reports.h"
#include "userspace/export/report_output.h"
#include "userspace/launch/command_end.h"
#include "userspace/launch/launch.h"
#include "userspace/launch/signal_relay.h"

namespace hawk {
namespace {

/// Tells whoever asked for it that every probe is in place: a newline, as s6 and systemd-notify-like supervisors
/// expect.
void tell_ready(const Options& options) {
  if (!options.ready_fd) return;
  if (const int error = write_all(*options.ready_fd, "\n"); error != 0) {
    log_warning(fmt::format("write to --ready-fd {}: {}", *options.ready_fd, std::strerror(error)));
  }
  ::close(*options.ready_fd);
}

/// A copy in the command would keep a reader waiting for the end.
void keep_from_command(const Options& options) {
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
std::optional<ExitCode> find_fault(const Options& options, const Snapshot& snapshot) {
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

/// A Symbolizer that knows nothing, and needs nothing for it.
class NoSymbols : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId, std::uint64_t) override { return {}; }
  SymbolSource source(ModuleId) override { return SymbolSource::kNone; }
  std::string gap(ModuleId) override { return "its symbols are not read: no memory was left"; }
};

/// The reports of one trace: one at the end, or with --report-every one each time and one at the end.
class Reports {
 public:
  Reports(ProcessTrace& trace, const Options& options, ReportOutput& output)
      : trace_(trace), options_(options), output_(output) {}

  /// Writes one of several. False: nobody reads any more.
  Result<bool> write_next() {
    Snapshot now = trace_.snapshot();
    wanted_ =
        HAWK_TRY(write_next_report(now, previous_ ? &*previous_ : nullptr, trace_.symbolizer(), options_, output_));
    previous_ = std::move(now);
    return wanted_;
  }
  /// Writes the last, or the only one. The numbers have been paid for: where memory is short, they come without names.
  Result<void> write_last(const Snapshot& snapshot) {
    if (!wanted_) return {};
    try {
      return write(snapshot, trace_.symbolizer());
    } catch (const std::bad_alloc&) {
      log_warning("the report has no names: no memory is left to read them");
    }
    NoSymbols none;
    return write(snapshot, none);
  }

 private:
  Result<void> write(const Snapshot& snapshot, Symbolizer& symbolizer) {
    if (!options_.report_every) return write_report(snapshot, symbolizer, options_, output_);
    HAWK_TRY_VOID(write_next_report(snapshot, previous_ ? &*previous_ : nullptr, symbolizer, options_, output_));
    return {};
  }

  ProcessTrace& trace_;
  const Options& options_;
  ReportOutput& output_;
  std::optional<Snapshot> previous_;
  bool wanted_ = true;
};

/// Traces until something ends the trace, and tells whether that was the user. The screen is given back before the
/// report is made.
Result<bool> watch(ProcessTrace& trace, const Options& options, SignalSource& signals, SignalRelay* relay, bool live,
                   Reports& reports) {
  std::optional<LiveScreen> screen;
  if (live) screen.emplace(HAWK_TRY(make_live_screen(options)));
  return run_trace_loop(trace, options, signals, relay, screen ? &*screen : nullptr,
                        [&reports] { return reports.write_next(); });
}

/// What was counted so far is still to be had.
Result<bool> watch_while_memory_lasts(ProcessTrace& trace, const Options& options, SignalSource& signals,
                                      SignalRelay* relay, bool live, Reports& reports) {
  try {
    return watch(trace, options, signals, relay, live, reports);
  } catch (const std::bad_alloc&) {
    log_warning("the trace ends here: no memory is left");
    trace.note_ended_early();
    return false;
  }
}

Result<int> trace_process(const Options& options) {
  HAWK_TRY_VOID(check_environment());
  keep_from_command(options);
  // From here on a signal that ends us first lets us clean up.
  SignalSource signals =
      HAWK_TRY(SignalSource::make(options.trace.command.empty() ? SignalScope::kOurs : SignalScope::kOfACommand));
  // A report that could not be written must not cost anybody a trace.
  ReportOutput output = HAWK_TRY(ReportOutput::make(options.report.output_path));
  std::optional<LaunchedCommand> command;
  if (!options.trace.command.empty()) command.emplace(HAWK_TRY(LaunchedCommand::make(options.trace.command)));

  // Every probe in place, nothing counted yet.
  const std::unique_ptr<ProcessTrace> trace =
      HAWK_TRY(ProcessTrace::make(options.trace, command ? &*command : nullptr));
  SignalRelay relay(trace->pid(), trace->pid_fd());

  // From here on allocations count.
  trace->begin();
  tell_ready(options);
  if (command) HAWK_TRY_VOID(command->release());
  const bool live = wants_live_screen(options, output.is_terminal());
  if (!command && !live) log_info(fmt::format("tracing process {}; Ctrl-C ends the trace", trace->pid()));
  Reports reports(*trace, options, output);
  const bool ended_by_user =
      HAWK_TRY(watch_while_memory_lasts(*trace, options, signals, command ? &relay : nullptr, live, reports));

  // What was counted has been paid for.
  allow_emergency_memory();
  // Beyond this point no probe is left. A second Ctrl-C now ends us at once.
  HAWK_TRY_VOID(trace->end(options.verify));
  if (ended_by_user) {
    signals.restore_defaults();
  } else {
    signals.restore_defaults_after_one();
  }
  const Snapshot snapshot = trace->snapshot();
  HAWK_TRY_VOID(reports.write_last(snapshot));
  int status = 0;
  if (command) status = finish_command(*command, trace->pid_fd(), options.kill_command, signals, relay);
  const std::optional<ExitCode> fault = find_fault(options, snapshot);
  return fault ? exit_status_of(*fault, options.starts_command()) : status;
}

}  // namespace

Result<int> trace_command(int argc, const char* const* argv) {
  const ParsedOptions parsed = HAWK_TRY(parse_options(argc, argv));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const Options& options = std::get<Options>(parsed);
  set_verbosity(options.verbosity);
  return trace_process(options);
}

}  // namespace hawk
