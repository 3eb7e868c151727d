#include "userspace/commands/recorded_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/report_options.h"
#include "userspace/process/open_file_limit.h"

namespace hawk {
namespace {

constexpr const char* kSymbolsGroup = "Functions, files and lines";

/// The files that functions are read from stay open: as many as a program may have mapped.
constexpr std::size_t kWantedFiles = 65536;

constexpr ExitRow kExits[] = {
    {"0", "success"},
    {"2", "malformed command line"},
    {"6", "a file could not be read or written"},
    {"70", "a bug of hawktrace"},
};

/// The directories of "DIR:DIR".
Result<std::vector<std::string>> parse_directories(OptionValue value) {
  std::vector<std::string> directories;
  for (std::string_view rest = value.text; !rest.empty();) {
    const std::string_view directory = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(directory.size() + 1, rest.size()));
    directories.push_back(HAWK_TRY(parse_file_name({value.option, directory, value.command}, "name a directory")));
  }
  return directories;
}

Result<void> choose_target(RecordingReader& reader, const std::string& path, std::optional<int> target) {
  const std::vector<TargetInfo> targets = reader.targets();
  if (target ? reader.choose(*target) : targets.size() == 1) return {};
  std::string names;
  for (const TargetInfo& one : targets) {
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", one.pid, one.comm);
  }
  return fail(ExitCode::kUsage,
              target ? fmt::format("--target: {} holds no process {}", path, *target)
                     : fmt::format("{} holds {} processes", path, targets.size()),
              fmt::format("--target names one of: {}", names));
}

}  // namespace

OptionRow target_row(std::optional<int>& target, const char* group) {
  return {"--target",
          OptionRow::Value::kRequired,
          "PID",
          group,
          "which process, of a recording of several",
          [&target](OptionValue v) {
            constexpr std::uint64_t kMaxPid = std::uint64_t{1} << 22;  // the kernel's PID_MAX_LIMIT
            return set_number(target, v, 1, kMaxPid);
          }};
}

void add_symbol_rows(OptionRows& rows, ModulePlaces& places, DebuginfodOptions& debuginfod) {
  rows.push_back({"--sysroot", OptionRow::Value::kRequired, "DIR", kSymbolsGroup,
                  "look for the traced process's files below DIR, not in\nthis file system",
                  [&places](OptionValue v) -> Result<void> {
                    places.sysroot = HAWK_TRY(parse_file_name(v, "leave the option out for this file system"));
                    return {};
                  }});
  rows.push_back(
      {"--debug-dir", OptionRow::Value::kRequired, "DIR", kSymbolsGroup,
       "look there first for files with the recorded build ids,\nand in .build-id there; DIR:DIR for several",
       [&places](OptionValue v) -> Result<void> {
         places.debug_directories = HAWK_TRY(parse_directories(v));
         return {};
       }});
  add_debuginfod_rows(rows, debuginfod, kSymbolsGroup);
}

std::span<const ExitRow> recorded_exits() { return kExits; }

Result<RecordingReader> read_recording(const std::string& path, std::optional<std::chrono::nanoseconds> at,
                                       std::optional<int> target,
                                       const std::function<void(const Snapshot&)>& observer) {
  raise_open_file_limit(kWantedFiles);
  RecordingReader reader = HAWK_TRY(RecordingReader::open(path));
  std::optional<std::uint64_t> until;
  if (at) until = static_cast<std::uint64_t>(at->count());
  HAWK_TRY_VOID(reader.read(until, observer));
  HAWK_TRY_VOID(choose_target(reader, path, target));
  if (const std::string missing = reader.what_is_missing(); !missing.empty()) {
    log_warning(fmt::format("{}: {}", path, missing));
  }
  return reader;
}

}  // namespace hawk
