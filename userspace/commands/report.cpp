// Reports of recordings: the same as live, by the same code.
#include "userspace/commands/report.h"

#include <fmt/core.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/commands/command.h"
#include "userspace/commands/final_report.h"
#include "userspace/commands/offline_symbolizer.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/recorded_options.h"
#include "userspace/commands/trace_options.h"
#include "userspace/export/report_output.h"
#include "userspace/recording/recording_reader.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

using Value = OptionRow::Value;

constexpr const char* kRecordingGroup = "What to read";
constexpr const char* kReportUsage[] = {"[OPTIONS] FILE"};
constexpr const char* kExportUsage[] = {"[OPTIONS] FILE --to FORMAT"};

constexpr Example kReportExamples[] = {
    {"hawktrace report heap.hawk", "the report of the trace"},
    {"hawktrace report heap.hawk --at 10m --sort allocated", "as of ten minutes after the start"},
    {"hawktrace report heap.hawk --sysroot /srv/image --debug-dir debug", "on another machine"},
};
constexpr Example kExportExamples[] = {
    {"hawktrace export heap.hawk --to json -o heap.json", "for programs"},
};

void add_recording_rows(OptionRows& rows, RecordedReportOptions& options) {
  rows.push_back({"", Value::kArgument, "FILE", kRecordingGroup, "a file written by hawktrace record"});
  rows.push_back({"--at", Value::kRequired, "TIME", kRecordingGroup,
                  "the state at this time after the trace began: 90s,\n1h30m (default: its end)",
                  [&options](OptionValue v) { return set_time_span(options.at, v, std::chrono::nanoseconds(0)); }});
  rows.push_back(target_row(options.target, kRecordingGroup));
}

/// How much each trace of a recording held at each interval.
using Points = std::map<recording::TraceNumber, std::vector<HeapSeries::Point>>;

/// Of all processes together there is none.
HeapSeries series_of(const Points& points, const RecordingReader& reader) {
  HeapSeries series;
  if (const auto trace = reader.chosen()) series.points = points.at(*trace);
  for (std::size_t i = 0; i < series.points.size(); ++i) {
    if (series.points[i].live_bytes > series.points[series.peak].live_bytes) series.peak = i;
  }
  return series;
}

/// A time of the displayed trace as a time of the recording.
std::uint64_t in_recording(const RecordingReader& reader, std::uint64_t time_ns) {
  for (const RecordingReader::Target& target : reader.targets()) {
    if (target.trace == reader.chosen()) return target.began_ns + time_ns;
  }
  return time_ns;
}

/// The recording as of the peak, if that is not its last interval.
Result<std::optional<RecordingReader>> read_peak(const RecordedReportOptions& options, const RecordingReader& reader,
                                                 const HeapSeries& series) {
  std::optional<RecordingReader> at_peak;
  if (!options.with_series || series.peak + 1 >= series.points.size()) return at_peak;
  at_peak.emplace(HAWK_TRY(RecordingReader::open(options.recording)));
  HAWK_TRY_VOID(at_peak->read(in_recording(reader, series.points[series.peak].time_ns)));
  at_peak->choose(*reader.chosen());
  return at_peak;
}

/// Reads the states before the last one again: a recording is too large to be kept in memory. If it cannot be read any
/// more, those states are missing.
void replay(const RecordedReportOptions& options, const RecordingReader& reader,
            const std::function<bool(const Snapshot&)>& take) {
  Result<RecordingReader> again = RecordingReader::open(options.recording);
  const std::uint64_t end_ns = reader.snapshot().trace.duration_ns;
  if (!again || end_ns == 0 || !reader.chosen()) return;
  bool wanted = true;
  const Result<void> read =
      again->read(in_recording(reader, end_ns - 1), [&](recording::TraceNumber trace, const Snapshot& now) {
        if (trace == reader.chosen()) wanted = wanted && take(now);
      });
  if (!read) log_verbose(read.error().what);
}

/// A line for each: when, for --at, why, and how much was live.
std::string dumps_text(const std::vector<RecordedDump>& dumps) {
  std::string text;
  for (const RecordedDump& dump : dumps) {
    // Rounded up, so that --at finds it.
    const std::uint64_t milliseconds = (dump.time_ns + 999'999) / 1'000'000;
    text += fmt::format("{}.{:03}s  {:<9}  {}\n", milliseconds / 1000, milliseconds % 1000, dump_cause_name(dump.cause),
                        format_bytes(dump.live_bytes, NumberStyle::kReadable));
  }
  return text;
}

Result<int> list_targets(const RecordedReportOptions& options) {
  RecordingReader reader = HAWK_TRY(RecordingReader::open(options.recording));
  std::optional<std::uint64_t> until;
  if (options.at) until = static_cast<std::uint64_t>(options.at->count());
  HAWK_TRY_VOID(reader.read(until));
  ReportOutput output = HAWK_TRY(options.report.open_output());
  HAWK_TRY_VOID(output.write(targets_text(reader)));
  return static_cast<int>(ExitCode::kOk);
}

Result<int> write_recorded_report(const RecordedReportOptions& options) {
  const std::unique_ptr<Debuginfod> debuginfod = HAWK_TRY(Debuginfod::make(options.debuginfod, options.verbosity));
  const ModuleSearch search = with_debuginfod(options.search, debuginfod.get());
  Points points;
  const RecordingReader::Observer observer = [&](recording::TraceNumber trace, const Snapshot& now) {
    points[trace].push_back({now.trace.duration_ns, now.totals.live_bytes()});
  };
  if (options.list_targets) return list_targets(options);
  HAWK_TRY_VOID(check_moment(options.report));
  const auto read_until = [&](const std::optional<std::chrono::nanoseconds>& until) {
    points.clear();
    return read_recording(options.recording, until, options.target, options.verbosity, observer);
  };
  std::optional<RecordingReader> read;
  read.emplace(HAWK_TRY(read_until(options.at)));
  if (options.report.at_peak) {
    const HeapSeries all = series_of(points, *read);
    if (all.points.empty()) {
      return fail(ExitCode::kUsage, "--at-peak: the recording has the peak of each process, but not of all together",
                  "select one with --target; --targets lists them");
    }
    read.emplace(HAWK_TRY(read_until(std::chrono::nanoseconds(in_recording(*read, all.points[all.peak].time_ns)))));
  }
  RecordingReader& reader = *read;
  HeapSeries series = series_of(points, reader);
  const std::optional<RecordingReader> at_peak = HAWK_TRY(read_peak(options, reader, series));
  if (at_peak) series.at_peak = &at_peak->snapshot();
  ReportOutput output = HAWK_TRY(options.report.open_output());
  if (options.list_dumps) {
    HAWK_TRY_VOID(output.write(dumps_text(reader.dumps())));
    return static_cast<int>(ExitCode::kOk);
  }
  series.replay = [&](const std::function<bool(const Snapshot&)>& take) { replay(options, reader, take); };
  OfflineSymbolizer symbolizer(reader.snapshot(), reader.names(), search);
  Snapshot shown = reader.snapshot();
  shown.is_at_peak = options.report.at_peak;
  HAWK_TRY_VOID(write_final_report(shown, symbolizer, options.report, options.verbosity, output, false, nullptr,
                                   options.with_series && !series.points.empty() ? &series : nullptr));
  return static_cast<int>(ExitCode::kOk);
}

Result<int> run(const CommandText& text, OptionRows (*rows)(RecordedReportOptions&), const char* required, int argc,
                const char* const* argv) {
  RecordedReportOptions options;
  options.with_series = &text == &export_text();
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto parsed = HAWK_TRY(parse_command_line(text, rows(options), words, 1));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const ParsedLine& line = std::get<ParsedLine>(parsed);
  if (line.arguments.empty()) return usage_error(text, "no recording was named", fmt::format("{} FILE", text.name));
  if (line.arguments.size() > 1) {
    return usage_error(text, fmt::format("'{}': unexpected argument", line.arguments[1]), "give one recording");
  }
  HAWK_TRY_VOID(check_verbosity(text, line));
  if (*required != '\0' && !line.has(required)) {
    return usage_error(text, fmt::format("{}: the format is missing", required));
  }
  options.recording = line.arguments.front();
  set_verbosity(options.verbosity);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is not an error
  return write_recorded_report(options);
}

}  // namespace

const CommandText& report_text() {
  static const CommandText text = {
      .name = "hawktrace report",
      .title = "report the contents of a recording",
      .summary = "Reports the contents of a recording, as the trace would have.",
      .description =
          "hawktrace report reads a file written by hawktrace record and makes the report that the trace would have "
          "ended with. It needs neither root nor the traced machine: functions, files and lines are stored in the "
          "recording (record --symbols), or are read from files with the recorded build ids. Files that are not found "
          "are named with their share of bytes.",
      .usage = kReportUsage,
      .examples = kReportExamples,
      .exits = recorded_exits(),
      .command_exits = {},
  };
  return text;
}

OptionRows report_rows(RecordedReportOptions& options) {
  OptionRows rows;
  add_recording_rows(rows, options);
  rows.push_back({"--dumps", Value::kNone, nullptr, kRecordingGroup,
                  "only list the dumps: the time, for --at, the cause, and\nthe live bytes",
                  turn_on(options.list_dumps)});
  rows.push_back({"--targets", Value::kNone, nullptr, kRecordingGroup,
                  "only list the processes: number, id, name, times, live\nbytes and whether they are exact",
                  turn_on(options.list_targets)});
  add_report_rows(rows, options.report);
  add_symbol_rows(rows, options.search, options.debuginfod);
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> report_command(int argc, const char* const* argv) {
  return run(report_text(), report_rows, "", argc, argv);
}

const CommandText& export_text() {
  static const CommandText text = {
      .name = "hawktrace export",
      .title = "write a recording in another format",
      .summary = "Writes the contents of a recording in a format for other programs.",
      .description =
          "hawktrace export is hawktrace report in a format that must be given. Formats that can hold a series of "
          "states contain one for each interval of the recording: massif with the stacks at the peak, heaptrack with "
          "what each stack allocated and freed in each interval.",
      .usage = kExportUsage,
      .examples = kExportExamples,
      .exits = recorded_exits(),
      .command_exits = {},
  };
  return text;
}

OptionRows export_rows(RecordedReportOptions& options) {
  OptionRows rows;
  add_recording_rows(rows, options);
  add_report_rows(rows, options.report, {.format_option = "--to"});
  add_symbol_rows(rows, options.search, options.debuginfod);
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> export_command(int argc, const char* const* argv) {
  return run(export_text(), export_rows, "--to", argc, argv);
}

}  // namespace hawk
