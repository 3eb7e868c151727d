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

/// What commands that read recordings share: the rows that say where symbols are looked for, and statuses.
void add_symbol_rows(OptionRows& rows, ModuleSearch& search, DebuginfodOptions& debuginfod);
std::span<const ExitRow> recorded_exits();

/// --target: which process of a recording is meant, or all of them together.
struct TargetChoice {
  enum class Kind { kPid, kNumber, kAll };
  Kind kind = Kind::kPid;
  std::uint32_t number = 0;  ///< of the process, or among those of the recording, from 1 on
};
/// The row of --target.
OptionRow target_row(std::optional<TargetChoice>& target, const char* group);

/// Reads a recording up to that time; nullopt: its end. Hands each interval's snapshot to `observer`. Warns if it was
/// cut off. Shows how far it has come, as ProgressLine does.
/// `target`: what is wanted of several; nullopt: all of them together. Fails with kUsage if that names none of them.
Result<RecordingReader> read_recording(const std::string& path, std::optional<std::chrono::nanoseconds> at,
                                       std::optional<TargetChoice> target, Verbosity verbosity,
                                       const RecordingReader::Observer& observer = {});

/// The processes of a recording, a line each, with the numbers that --target takes.
std::string targets_text(const RecordingReader& reader);

}  // namespace hawk
