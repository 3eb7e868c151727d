#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/report_options.h"
#include "userspace/commands/trace_options.h"

namespace hawk {

/// The options of a recording.
struct RecordOptions : TraceOptions {
  std::string pattern = "hawktrace.%e.%p.hawk";  ///< see recording_name()
  bool overwrite = false;                        ///< --force
  bool symbols = false;
  std::optional<std::uint64_t> rotate_bytes;             ///< a new file is begun when one has as many
  std::optional<std::chrono::nanoseconds> rotate_after;  ///< the same, when one is as old
  bool wants_report = false;
  ReportOptions report;  ///< if one is made at the end; its output is the destination
};

/// `hawktrace record`: traces one process as trace_command() does, into a file.
Result<int> record_command(int argc, const char* const* argv);

/// The text about the command, and its options, which set `options`.
const CommandText& record_text();
OptionRows record_rows(RecordOptions& options);

}  // namespace hawk
