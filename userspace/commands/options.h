#pragma once

#include <chrono>
#include <optional>
#include <variant>

#include "userspace/commands/command_line.h"
#include "userspace/commands/report_options.h"
#include "userspace/commands/trace_options.h"

namespace hawk {

/// What the user asked for on the command line of the command that needs no name: to trace a process, and report.
struct Options : TraceOptions {
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: one report, at the end
  ReportOptions report;

  /// Whether reports follow each other in one file.
  bool wants_several() const { return report_every.has_value() || !dumps.is_empty(); }
};

using ParsedOptions = std::variant<Options, InfoText>;

/// Reads the command line. Every error is kUsage, one line that names the option and the value, with a hint.
/// Changes nothing outside: the caller applies `verbosity`.
Result<ParsedOptions> parse_options(int argc, const char* const* argv);

/// All options, in the order of the help text; they set `options`.
OptionRows option_rows(Options& options);

/// What is said of the command.
const CommandText& trace_text();

}  // namespace hawk
