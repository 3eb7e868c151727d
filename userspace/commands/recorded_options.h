#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/debuginfod.h"
#include "userspace/recording/recording_reader.h"

namespace hawk {

/// Shared by the commands that read recordings: the rows for the search of symbols, and exit statuses.
void add_symbol_rows(OptionRows& rows, ModuleSearch& search, DebuginfodOptions& debuginfod);
std::span<const ExitRow> recorded_exits();

/// --target: the selected process of a recording, or all of them together.
struct TargetChoice {
  enum class Kind { kPid, kNumber, kAll };
  Kind kind = Kind::kPid;
  std::uint32_t number = 0;  ///< of the process, or among those of the recording, from 1 on
};
/// The row of --target.
OptionRow target_row(std::optional<TargetChoice>& target, const char* group);

/// Reads a recording up to that time; nullopt: its end. Passes each interval's snapshot to `observer`. Warns if the
/// file is truncated. Shows the progress by a ProgressLine. `target`: one of several processes; nullopt: all of them
/// together. Fails with kUsage if there is no such process.
Result<RecordingReader> read_recording(const std::string& path, std::optional<std::chrono::nanoseconds> at,
                                       std::optional<TargetChoice> target, Verbosity verbosity,
                                       const RecordingReader::Observer& observer = {});

/// The processes of a recording, a line each, with the numbers that --target takes.
std::string targets_text(const RecordingReader& reader);

}  // namespace hawk
