#include "userspace/commands/recorded_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/base/open_file_limit.h"
#include "userspace/base/printable.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/progress_line.h"
#include "userspace/commands/report_options.h"
#include "userspace/report/units.h"
#include "userspace/report/verdict.h"

namespace hawk {
namespace {

constexpr const char* kSymbolsGroup = "Functions, files and lines";

/// The files that functions are read from stay open: as many as a program may have mapped.
constexpr std::size_t kWantedFiles = 65536;

constexpr ExitRow kExits[] = {
    {"0", "success"},
    {"2", "malformed command line"},
    {"6", "a file could not be read or written"},
    {"70", "a bug in hawktrace"},
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

/// "100 (shop), 200 (shop), ...": the first of them.
std::string names_of(const std::vector<RecordingReader::Target>& targets) {
  constexpr std::size_t kMostNames = 8;
  std::string names;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (i == kMostNames) return names + ", ... (report --targets lists them)";
    const TargetInfo& target = targets[i].last.target();
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", target.pid, target.comm);
  }
  return names;
}

Result<void> choose_target(RecordingReader& reader, const std::string& path, std::optional<TargetChoice> choice) {
  const std::vector<RecordingReader::Target> targets = reader.targets();
  const std::string hint = fmt::format("--target takes all, or one of: {}", names_of(targets));
  if (!choice || choice->kind == TargetChoice::Kind::kAll)
    return targets.size() == 1 ? Result<void>() : reader.choose_all();
  if (choice->kind == TargetChoice::Kind::kNumber) {
    if (choice->number > targets.size()) {
      return fail(ExitCode::kUsage,
                  fmt::format("--target @{}: {} holds {} process{}", choice->number, path, targets.size(),
                              targets.size() == 1 ? "" : "es"),
                  hint);
    }
    reader.choose(targets[choice->number - 1].trace);
    return {};
  }
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (static_cast<std::uint32_t>(targets[i].last.target().pid) == choice->number) found.push_back(i);
  }
  if (found.empty()) {
    return fail(ExitCode::kUsage, fmt::format("--target: {} holds no process {}", path, choice->number), hint);
  }
  if (found.size() > 1) {
    return fail(ExitCode::kUsage,
                fmt::format("--target: {} holds {} processes with the id {}", path, found.size(), choice->number),
                fmt::format("--target @{} is the first of them; report --targets lists all", found.front() + 1));
  }
  reader.choose(targets[found.front()].trace);
  return {};
}

Result<void> set_target(std::optional<TargetChoice>& target, OptionValue value) {
  if (value.text == "all") {
    target = TargetChoice{.kind = TargetChoice::Kind::kAll};
    return {};
  }
  const bool is_number = value.text.starts_with('@');
  constexpr std::uint64_t kMaxPid = std::uint64_t{1} << 22;  // the kernel's PID_MAX_LIMIT
  std::uint64_t number = 0;
  HAWK_TRY_VOID(set_number(number, {value.option, value.text.substr(is_number ? 1 : 0), value.command}, 1,
                           is_number ? recording::kMaxTraces : kMaxPid));
  target = TargetChoice{.kind = is_number ? TargetChoice::Kind::kNumber : TargetChoice::Kind::kPid,
                        .number = static_cast<std::uint32_t>(number)};
  return {};
}

}  // namespace

OptionRow target_row(std::optional<TargetChoice>& target, const char* group) {
  return {"--target",
          OptionRow::Value::kRequired,
          "PID",
          group,
          "of a recording of several processes, only the one with\nthis id (default: all together); @2 is the second "
          "one\nrecorded",
          [&target](OptionValue v) { return set_target(target, v); }};
}

std::string targets_text(const RecordingReader& reader) {
  std::string text;
  const std::vector<RecordingReader::Target> targets = reader.targets();
  const auto seconds = [](std::uint64_t ns) {
    const std::uint64_t milliseconds = ns / 1'000'000;
    return fmt::format("{}.{:03}s", milliseconds / 1000, milliseconds % 1000);
  };
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const Snapshot& last = targets[i].last;
    text += fmt::format(
        "@{:<4} {:>7} {:<15}  from {} to {}{}  live {}; {}\n", i + 1, last.target().pid, printable(last.target().comm),
        seconds(targets[i].began_ns), seconds(targets[i].last_ns), last.trace.target_exited ? ", its end" : "",
        format_bytes(last.totals.live_bytes(), NumberStyle::kReadable), verdict(last, NumberStyle::kReadable).text);
  }
  return text;
}

void add_symbol_rows(OptionRows& rows, ModuleSearch& search, DebuginfodOptions& debuginfod) {
  rows.push_back({"--sysroot", OptionRow::Value::kRequired, "DIR", kSymbolsGroup,
                  "look for the traced process's files below DIR, not in\nthis file system",
                  [&search](OptionValue v) -> Result<void> {
                    search.sysroot = HAWK_TRY(parse_file_name(v, "omit the option to use this file system"));
                    return {};
                  }});
  rows.push_back({"--debug-dir", OptionRow::Value::kRequired, "DIR", kSymbolsGroup,
                  "look in DIR first for files with the recorded build\nids, and in DIR/.build-id; DIR:DIR for several",
                  [&search](OptionValue v) -> Result<void> {
                    search.debug_directories = HAWK_TRY(parse_directories(v));
                    return {};
                  }});
  add_debuginfod_rows(rows, debuginfod, kSymbolsGroup);
}

std::span<const ExitRow> recorded_exits() { return kExits; }

namespace {

Result<void> read_with_progress(RecordingReader& reader, const std::string& path, std::optional<std::uint64_t> until,
                                Verbosity verbosity, const RecordingReader::Observer& observer) {
  ProgressLine line(progress_on_stderr(verbosity));
  std::uint64_t intervals = 0;
  line.begin();
  return reader.read(until, [&](recording::TraceNumber trace, const Snapshot& now) {
    ++intervals;
    if (line.is_due()) {
      line.show(fmt::format("hawktrace: reading {}, {} intervals", printable(path),
                            format_count(intervals, NumberStyle::kReadable)));
    }
    if (observer) observer(trace, now);
  });
}

}  // namespace

Result<RecordingReader> read_recording(const std::string& path, std::optional<std::chrono::nanoseconds> at,
                                       std::optional<TargetChoice> target, Verbosity verbosity,
                                       const RecordingReader::Observer& observer) {
  raise_open_file_limit(kWantedFiles);
  RecordingReader reader = HAWK_TRY(RecordingReader::open(path));
  std::optional<std::uint64_t> until;
  if (at) until = static_cast<std::uint64_t>(at->count());
  HAWK_TRY_VOID(read_with_progress(reader, path, until, verbosity, observer));
  HAWK_TRY_VOID(choose_target(reader, path, target));
  if (const std::string missing = reader.what_is_missing(); !missing.empty()) {
    log_warning(fmt::format("{}: {}", path, missing));
  }
  return reader;
}

}  // namespace hawk
