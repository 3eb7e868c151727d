#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "userspace/attach/recorded_module_locator.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/commands/debuginfod.h"
#include "userspace/recording/recording_reader.h"

namespace hawk {

/// What commands that read recordings share: the rows that say where symbols are looked for, and statuses.
void add_symbol_rows(OptionRows& rows, ModulePlaces& places, DebuginfodOptions& debuginfod);
std::span<const ExitRow> recorded_exits();

/// Reads a recording up to that time; nullopt: its end. Hands each interval's snapshot to `observer`. Warns if it was
/// cut off.
/// `target`: the process that is wanted of several. Fails with kUsage if there are several and it is none of them.
Result<RecordingReader> read_recording(
    const std::string& path, std::optional<std::chrono::nanoseconds> at, std::optional<int> target,
    const std::function<void(const Snapshot&)>& observer = [](const Snapshot&) {});

/// The row of --target.
OptionRow target_row(std::optional<int>& target, const char* group);

}  // namespace hawk
