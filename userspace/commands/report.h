#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/debuginfod.h"
#include "userspace/commands/recorded_options.h"
#include "userspace/commands/report_options.h"

namespace hawk {

/// The options of a report of a recording.
struct RecordedReportOptions {
  std::string recording;                       ///< its file
  std::optional<std::chrono::nanoseconds> at;  ///< since the trace began; nullopt: its end
  ModuleSearch search;
  DebuginfodOptions debuginfod;
  ReportOptions report;
  std::optional<TargetChoice> target;  ///< of several
  bool with_series = false;            ///< formats that can hold one get all intervals; a live report has only its end
  bool list_dumps = false;
  bool list_targets = false;
  Verbosity verbosity = Verbosity::kNormal;
};

/// `hawktrace report FILE` and `hawktrace export FILE --to FORMAT`: the report that the trace would have ended with at
/// that time.
Result<int> report_command(int argc, const char* const* argv);
Result<int> export_command(int argc, const char* const* argv);

/// The texts about the commands, and their options, which set `options`.
const CommandText& report_text();
OptionRows report_rows(RecordedReportOptions& options);
const CommandText& export_text();
OptionRows export_rows(RecordedReportOptions& options);

}  // namespace hawk
