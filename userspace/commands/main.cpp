#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <clocale>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/launch/command_end.h"
#include "userspace/commands/emergency_memory.h"
#include "userspace/attach/environment.h"
#include "userspace/commands/options.h"
#include "userspace/export/report_output.h"
#include "userspace/commands/trace_reports.h"
#include "userspace/commands/live_screen_choice.h"
#include "userspace/attach/process_trace.h"
#include "userspace/launch/signal_relay.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/standard_streams.h"
#include "userspace/commands/trace_loop.h"
#include "userspace/base/log.h"
#include "userspace/base/printable.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/launch/launch.h"
#include "userspace/screen/terminal.h"

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
  Reports(Session& session, const Options& options, ReportOutput& output)
      : session_(session), options_(options), output_(output) {}

  /// Writes one of several. False: nobody reads any more.
  Result<bool> write_next() {
    Snapshot now = session_.snapshot();
    wanted_ =
        HAWK_TRY(write_next_report(now, previous_ ? &*previous_ : nullptr, session_.symbolizer(), options_, output_));
    previous_ = std::move(now);
    return wanted_;
  }
  /// Writes the last, or the only one. The numbers have been paid for: where memory is short, they come without names.
  Result<void> write_last(const Snapshot& snapshot) {
    if (!wanted_) return {};
    try {
      return write(snapshot, session_.symbolizer());
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

  Session& session_;
  const Options& options_;
  ReportOutput& output_;
  std::optional<Snapshot> previous_;
  bool wanted_ = true;
};

/// Traces until something ends the trace, and tells whether that was the user. The screen is given back before the
/// report is made.
Result<bool> trace(Session& session, const Options& options, SignalSource& signals, SignalRelay* relay, bool live,
                   Reports& reports) {
  std::optional<LiveScreen> screen;
  if (live) screen.emplace(HAWK_TRY(make_live_screen(options)));
  return run_trace_loop(session, options, signals, relay, screen ? &*screen : nullptr,
                        [&reports] { return reports.write_next(); });
}

/// What was counted so far is still to be had.
Result<bool> trace_while_memory_lasts(Session& session, const Options& options, SignalSource& signals,
                                      SignalRelay* relay, bool live, Reports& reports) {
  try {
    return trace(session, options, signals, relay, live, reports);
  } catch (const std::bad_alloc&) {
    log_warning("the trace ends here: no memory is left");
    return false;
  }
}

Result<int> run(const Options& options) {
  HAWK_TRY_VOID(check_environment());
  keep_from_command(options);
  // From here on a signal that ends us first lets us clean up.
  SignalSource signals =
      HAWK_TRY(SignalSource::make(options.command.empty() ? SignalScope::kOurs : SignalScope::kOfACommand));
  // A report that could not be written must not cost anybody a trace.
  ReportOutput output = HAWK_TRY(ReportOutput::make(options.output_path));
  std::optional<LaunchedCommand> command;
  if (!options.command.empty()) command.emplace(HAWK_TRY(LaunchedCommand::make(options.command)));

  // Every probe in place, nothing counted yet.
  const std::unique_ptr<Session> session = HAWK_TRY(Session::make(options, command ? &*command : nullptr));
  SignalRelay relay(session->pid(), session->pid_fd());

  // From here on allocations count.
  session->begin();
  tell_ready(options);
  if (command) HAWK_TRY_VOID(command->release());
  const bool live = wants_live_screen(options, output.is_terminal());
  if (!command && !live) log_info(fmt::format("tracing process {}; Ctrl-C ends the trace", session->pid()));
  Reports reports(*session, options, output);
  const bool ended_by_user =
      HAWK_TRY(trace_while_memory_lasts(*session, options, signals, command ? &relay : nullptr, live, reports));

  // What was counted has been paid for.
  allow_emergency_memory();
  // Beyond this point no probe is left. A second Ctrl-C now ends us at once.
  HAWK_TRY_VOID(session->end(options.verify));
  if (ended_by_user) {
    signals.restore_defaults();
  } else {
    signals.restore_defaults_after_one();
  }
  const Snapshot snapshot = session->snapshot();
  HAWK_TRY_VOID(reports.write_last(snapshot));
  int status = 0;
  if (command) status = finish_command(*command, session->pid_fd(), options.kill_command, signals, relay);
  const std::optional<ExitCode> fault = find_fault(options, snapshot);
  return fault ? exit_status_of(*fault, options.starts_command()) : status;
}

/// For --help and --version. A reader that went away has seen what it wanted.
Result<int> print_info(const InfoText& info) {
  const int error = write_all(STDOUT_FILENO, info.text);
  if (error == 0 || error == EPIPE) return static_cast<int>(ExitCode::kOk);
  return system_failure(ExitCode::kFile, "write to stdout", error);
}

Result<int> run_program(int argc, char** argv) {
  const ParsedOptions parsed = HAWK_TRY(parse_options(argc, argv));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(*info);
  const Options& options = std::get<Options>(parsed);
  set_verbosity(options.verbosity);
  return run(options);
}

/// Whether "--" is on the command line. For those who end us where nobody can be told anything any more, too.
bool has_command = false;

constexpr const char* kOutOfMemory = "out of memory";
constexpr const char* kOutOfMemoryHint = "free some memory, or raise the limit of this shell or cgroup";

/// Before main, in a thread and in a destructor nobody can catch it. The kernel removes the probes with the process.
[[noreturn]] void end_without_memory() {
  restore_terminal();
  log_error(kOutOfMemory, kOutOfMemoryHint);
  ::_exit(exit_status_of(ExitCode::kPrivilege, has_command));
}

[[noreturn]] void on_terminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (...) {  // the abort tells where
  }
  std::abort();
}

/// What other initialisers of static objects find.
[[gnu::constructor(101)]] void end_initialisation_without_memory() { std::set_new_handler(end_without_memory); }

/// What is thrown has taken probes, command and temporary file down on its way here.
int main_program(int argc, char** argv) {
  has_command = std::any_of(argv, argv + argc, [](const char* word) { return std::string_view(word) == "--"; });
  set_character_set(character_set_of(std::getenv("LC_ALL"), std::getenv("LC_CTYPE"), std::getenv("LANG")));
  // By this ncurses knows what it may draw. Not the user's locale by name, which need not be installed.
  if (character_set() == CharacterSet::kUnicode) std::setlocale(LC_CTYPE, "C.UTF-8");
  secure_standard_streams();
  std::set_new_handler(nullptr);
  std::set_terminate(on_terminate);
  try {
    const Result<int> status = run_program(argc, argv);
    if (status) return *status;
    log_error(status.error());
    return exit_status_of(status.error().exit_code, has_command);
  } catch (const std::bad_alloc&) {
    log_error(kOutOfMemory, kOutOfMemoryHint);
    return exit_status_of(ExitCode::kPrivilege, has_command);
  } catch (const std::exception& thrown) {
    log_error(thrown.what(), "this is a bug of hawktrace: please report it");
    return exit_status_of(ExitCode::kInternal, has_command);
  }
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) { return hawk::main_program(argc, argv); }
