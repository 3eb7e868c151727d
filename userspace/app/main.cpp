#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "userspace/app/emergency_memory.h"
#include "userspace/app/environment.h"
#include "userspace/app/live_screen.h"
#include "userspace/app/options.h"
#include "userspace/app/output.h"
#include "userspace/app/report_writing.h"
#include "userspace/app/session.h"
#include "userspace/app/signal_relay.h"
#include "userspace/app/signals.h"
#include "userspace/app/standard_streams.h"
#include "userspace/app/terminal.h"
#include "userspace/app/trace_loop.h"
#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/target/launch.h"

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

/// Waits for the command, and passes signals on to it meanwhile. Its status as a shell gives it: 128 + N for a death by
/// signal N.
int command_status(int pid, int pid_fd, SignalSource& signals, SignalRelay& relay) {
  signals.take_again();
  pollfd events[] = {{.fd = signals.fd(), .events = POLLIN, .revents = 0},
                     {.fd = pid_fd, .events = POLLIN, .revents = 0}};
  while (events[1].revents == 0) {
    static_cast<void>(::poll(std::data(events), std::size(events), -1));
    while (const std::optional<ReceivedSignal> signal = signals.next()) {
      if (signal->number == 0) {
        events[0].fd = -1;
        break;
      }
      if (relay.take(*signal) != SignalRelay::Wish::kEnd) continue;
      signals.restore_defaults();
      ::raise(signal->number);
    }
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 0;
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int exit_status(const Options& options, const Snapshot& snapshot, std::optional<int> command) {
  if (snapshot.trace.verified == std::optional<bool>(false)) {
    log_error(
        {ExitCode::kInternal, "verify: the counters disagree with the live table: this is a bug of hawktrace", ""});
    return static_cast<int>(ExitCode::kInternal);
  }
  if (options.require_exact && !snapshot.exact()) {
    log_error({ExitCode::kNotExact, "the numbers are not exact: see the losses in the report", ""});
    return static_cast<int>(ExitCode::kNotExact);
  }
  return command.value_or(static_cast<int>(ExitCode::kOk));
}

/// Traces until something ends the trace, and tells whether that was the user. The screen is given back before the
/// report is made.
Result<bool> trace(Session& session, const Options& options, SignalSource& signals, SignalRelay* relay, bool live) {
  std::optional<LiveScreen> screen;
  if (live) screen.emplace(HAWK_TRY(LiveScreen::make(options)));
  return run_trace_loop(session, options, signals, relay, screen ? &*screen : nullptr);
}

/// A Symbolizer that knows nothing, and needs nothing for it.
class NoSymbols : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId, std::uint64_t) override { return {}; }
  SymbolSource source(ModuleId) override { return SymbolSource::kNone; }
  std::string gap(ModuleId) override { return "its symbols are not read: no memory was left"; }
};

/// The numbers have been paid for: where memory is short, they come without names.
Result<void> write_report_in_any_case(Session& session, const Options& options, ReportOutput& output,
                                      const Snapshot& snapshot) {
  try {
    return write_report(snapshot, session.symbolizer(), options, output);
  } catch (const std::bad_alloc&) {
    log_warning("the report has no names: no memory is left to read them");
  }
  NoSymbols none;
  return write_report(snapshot, none, options, output);
}

/// What was counted so far is still to be had.
Result<bool> trace_while_memory_lasts(Session& session, const Options& options, SignalSource& signals,
                                      SignalRelay* relay, bool live) {
  try {
    return trace(session, options, signals, relay, live);
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
  const bool ended_by_user =
      HAWK_TRY(trace_while_memory_lasts(*session, options, signals, command ? &relay : nullptr, live));

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
  HAWK_TRY_VOID(write_report_in_any_case(*session, options, output, snapshot));
  std::optional<int> status;
  if (command) status = command_status(command->disown(), session->pid_fd(), signals, relay);
  return exit_status(options, snapshot, status);
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

constexpr const char* kOutOfMemory = "out of memory";
constexpr const char* kOutOfMemoryHint = "free some memory, or raise the limit of this shell or cgroup";

/// Before main, in a thread and in a destructor nobody can catch it. The kernel removes the probes with the process.
[[noreturn]] void end_without_memory() {
  restore_terminal();
  log_error(kOutOfMemory, kOutOfMemoryHint);
  ::_exit(static_cast<int>(ExitCode::kPrivilege));
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
  secure_standard_streams();
  std::set_new_handler(nullptr);
  std::set_terminate(on_terminate);
  try {
    const Result<int> status = run_program(argc, argv);
    if (status) return *status;
    log_error(status.error());
    return static_cast<int>(status.error().exit_code);
  } catch (const std::bad_alloc&) {
    log_error(kOutOfMemory, kOutOfMemoryHint);
    return static_cast<int>(ExitCode::kPrivilege);
  } catch (const std::exception& thrown) {
    log_error(thrown.what(), "this is a bug of hawktrace: please report it");
    return static_cast<int>(ExitCode::kInternal);
  }
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) { return hawk::main_program(argc, argv); }
