#include "userspace/commands/command.h"

#include <unistd.h>

#include <cerrno>

#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/config.h"
#include "userspace/commands/daemon.h"
#include "userspace/commands/diff.h"
#include "userspace/commands/options.h"
#include "userspace/commands/record.h"
#include "userspace/commands/report.h"
#include "userspace/commands/status.h"
#include "userspace/commands/trace.h"

namespace hawk {
namespace {

/// The rows of a command whose options are an `OptionsOf`, as they are without any being set.
template <class OptionsOf, OptionRows (*rows)(OptionsOf&)>
OptionRows rows_of() {
  static OptionsOf unset;
  return rows(unset);
}

/// A command is one file and one row.
constexpr Command kCommands[] = {
    {"", trace_text, rows_of<Options, option_rows>, trace_command},
    {"record", record_text, rows_of<RecordOptions, record_rows>, record_command},
    {"report", report_text, rows_of<RecordedReportOptions, report_rows>, report_command},
    {"diff", diff_text, rows_of<DiffOptions, diff_rows>, diff_command},
    {"export", export_text, rows_of<RecordedReportOptions, export_rows>, export_command},
    {"daemon", daemon_text, rows_of<DaemonCommandOptions, daemon_rows>, daemon_command},
    {"status", status_text, rows_of<StatusOptions, status_rows>, status_command},
    {"list", list_text, rows_of<StatusOptions, status_rows>, list_command},
    {"config", config_text, rows_of<ConfigOptions, config_rows>, config_command},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command& find_command(int argc, const char* const* argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const Command& command : kCommands) {
    if (command.word == word) return command;
  }
  return kCommands[0];
}

Result<int> print_info(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return static_cast<int>(ExitCode::kOk);
  return system_failure(ExitCode::kFile, "write to stdout", error);
}

}  // namespace hawk
