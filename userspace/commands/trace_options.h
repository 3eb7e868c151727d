#pragma once

#include <chrono>
#include <optional>

#include "userspace/attach/trace_config.h"
#include "userspace/base/log.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/debuginfod.h"
#include "userspace/launch/command_user.h"
#include "userspace/selection/process_query.h"
#include "userspace/traces/dump_triggers.h"

namespace hawk {

/// --require-exact: what must not be missing, for an exit status of 0.
struct Required {
  bool numbers = false;   ///< of the traced process
  bool children = false;  ///< there must be no process that it started and that was not traced
  bool stacks = false;    ///< all complete
};

/// What the user asked for of a trace, whatever becomes of its numbers.
struct TraceOptions {
  TraceConfig trace;                                 ///< what to trace, if it is what follows --, and how
  ProcessQuery processes;                            ///< what to trace otherwise
  std::optional<std::chrono::nanoseconds> duration;  ///< nullopt: until the target ends or a signal comes
  DumpOptions dumps;
  std::optional<std::chrono::nanoseconds> mark_every;  ///< --mark-every: a generation of blocks begins that often
  std::optional<bool> follow;                          ///< --follow, --no-follow; nullopt: see settle_following()
  std::optional<bool> hold;                            ///< --hold, --no-hold; nullopt: the same
  Required required;
  bool verify = false;
  bool keeps_peak = false;          ///< the state at the peak is to be reported
  std::optional<CommandUser> user;  ///< whom the command runs as; nullopt: as we do
  bool kill_command = false;        ///< --kill: the command does not outlive the trace
  std::optional<int> ready_fd;      ///< an open descriptor, written to when all probes are in place
  DebuginfodOptions debuginfod;
  Verbosity verbosity = Verbosity::kNormal;

  /// Whether a command is started, so that hawktrace's own failures have exit statuses apart from the command's.
  bool starts_command() const { return !trace.command.empty(); }
};

/// The shortest --interval, and the shortest time between two reports.
inline constexpr std::chrono::nanoseconds kMinInterval = std::chrono::milliseconds(100);

/// The headings below which options are explained.
inline constexpr const char* kTargetGroup = "What to trace";
inline constexpr const char* kTimeGroup = "How long";
inline constexpr const char* kTracingGroup = "Tracing";
inline constexpr const char* kOtherGroup = "Other";

struct ReportOptions;
/// Has the trace count what the report is to say.
void count_lives(TraceOptions& options, const ReportOptions& report);

/// The rows that set `options`, by group; all of them refer to it.
void add_target_rows(OptionRows& rows, TraceOptions& options);
void add_time_rows(OptionRows& rows, TraceOptions& options);
void add_kill_row(OptionRows& rows, TraceOptions& options);
void add_tracing_rows(OptionRows& rows, TraceOptions& options);
void add_ready_row(OptionRows& rows, TraceOptions& options);
/// What every command has: --quiet, --verbose, --version and --help.
void add_common_rows(OptionRows& rows, Verbosity& verbosity);

/// The words of a command line of a command that traces: those that hawktrace reads, and the traced command behind --.
struct TraceWords {
  std::vector<std::string> own;
  std::vector<std::string> command;
  bool has_separator = false;
};
/// `first`: index of the first of them in `argv`.
TraceWords split_command(int argc, const char* const* argv, int first);

/// Takes further numbers behind that of -p ($(pidof nginx) without quotation marks), and refuses what cannot be traced:
/// nothing, two things, words that belong to no option.
Result<void> check_trace(const CommandText& text, const ParsedLine& line, TraceOptions& options, bool has_separator);
/// What is not said about following and holding: processes that are found by what they are part of are followed, and a
/// command is held as well; but none where probes of the chosen kind do not pass on.
void settle_following(TraceOptions& options);
/// The same for --quiet and --verbose.
Result<void> check_verbosity(const CommandText& text, const ParsedLine& line);

/// The statuses of every command that traces, and those with -- COMMAND.
std::span<const ExitRow> trace_exits();
std::span<const ExitRow> trace_command_exits();

}  // namespace hawk
