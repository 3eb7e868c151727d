#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "userspace/app/environment.h"
#include "userspace/app/live_screen.h"
#include "userspace/app/options.h"
#include "userspace/app/output.h"
#include "userspace/app/report_writing.h"
#include "userspace/app/session.h"
#include "userspace/app/signals.h"
#include "userspace/app/trace_loop.h"
#include "userspace/base/log.h"
#include "userspace/target/launch.h"

namespace hawk {
namespace {

/// Tells whoever asked for it that every probe is in place: a newline, as s6 and systemd-notify-like supervisors
/// expect.
void tell_ready(const Options& options) {
  if (options.ready_fd && ::write(*options.ready_fd, "\n", 1) != 1) {
    log_warning(fmt::format("write to --ready-fd {}: {}", *options.ready_fd, std::strerror(errno)));
  }
  if (options.ready_fd) ::close(*options.ready_fd);
}

/// Waits for the command and returns its status as a shell gives it: 128 + N for a death by signal N.
int command_status(int pid) {
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
Result<bool> trace(Session& session, const Options& options, SignalSource& signals, bool live) {
  std::optional<LiveScreen> screen;
  if (live) screen.emplace(HAWK_TRY(LiveScreen::make(options)));
  return run_trace_loop(session, options, signals, screen ? &*screen : nullptr);
}

Result<int> run(const Options& options) {
  HAWK_TRY_VOID(check_environment());
  // A report that could not be written must not cost anybody a trace.
  ReportOutput output = HAWK_TRY(ReportOutput::make(options.output_path));

  // The command is forked before signals are blocked, so that it starts with the user's own signal mask.
  std::optional<LaunchedCommand> command;
  if (!options.command.empty()) command.emplace(HAWK_TRY(LaunchedCommand::make(options.command)));
  SignalSource signals = HAWK_TRY(SignalSource::make());

  // Every probe in place, nothing counted yet.
  const std::unique_ptr<Session> session = HAWK_TRY(Session::make(options, command ? &*command : nullptr));

  // From here on allocations count.
  session->begin();
  tell_ready(options);
  if (command) HAWK_TRY_VOID(command->release());
  const bool live = wants_live_screen(options, output.is_terminal());
  if (!command && !live) log_info(fmt::format("tracing process {}; Ctrl-C ends the trace", session->pid()));
  const bool ended_by_user = HAWK_TRY(trace(*session, options, signals, live));

  // Beyond this point no probe is left. A second Ctrl-C now ends us at once.
  HAWK_TRY_VOID(session->end(options.verify));
  if (ended_by_user) {
    signals.restore_defaults();
  } else {
    signals.restore_defaults_after_one();
  }
  const Snapshot snapshot = session->snapshot();
  HAWK_TRY_VOID(write_report(snapshot, session->symbolizer(), options, output));
  const std::optional<int> status = command ? std::optional<int>(command_status(command->disown())) : std::nullopt;
  return exit_status(options, snapshot, status);
}

int main_program(int argc, char** argv) {
  Result<ParsedOptions> parsed = parse_options(argc, argv);
  if (!parsed) {
    log_error(parsed.error());
    return static_cast<int>(parsed.error().exit_code);
  }
  if (const InfoText* info = std::get_if<InfoText>(&*parsed)) {
    fmt::print("{}", info->text);
    return static_cast<int>(ExitCode::kOk);
  }
  const Options& options = std::get<Options>(*parsed);
  set_verbosity(options.verbosity);
  const Result<int> status = run(options);
  if (status) return *status;
  log_error(status.error());
  return static_cast<int>(status.error().exit_code);
}

}  // namespace
}  // namespace hawk

int main(int argc, char** argv) { return hawk::main_program(argc, argv); }
