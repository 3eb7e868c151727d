// Traces a process into a file.
#include "userspace/commands/record.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "userspace/base/log.h"
#include "userspace/commands/command.h"
#include "userspace/commands/final_report.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/recorded_state.h"
#include "userspace/commands/recording_name.h"
#include "userspace/commands/run_trace.h"
#include "userspace/commands/trace_loop.h"
#include "userspace/export/report_output.h"
#include "userspace/recording/recording_writer.h"
#include "userspace/report/units.h"

namespace hawk {
namespace {

constexpr const char* kRecordingGroup = "Recording";
constexpr const char* kUsage[] = {"[OPTIONS] -p PID", "[OPTIONS] --unit UNIT|--container ID|--name NAME|...",
                                  "[OPTIONS] -- COMMAND [ARGS...]"};

constexpr Example kExamples[] = {
    {"sudo hawktrace record -p 1234 -o heap.hawk", "until Ctrl-C"},
    {"hawktrace report heap.hawk", "what the report would have been"},
    {"sudo hawktrace record --symbols -o '%h.%e.%t' -- ./server", "named after host, program and time"},
};

std::string host_name() {
  utsname names;
  return ::uname(&names) == 0 ? names.nodename : "";
}

std::uint64_t unix_seconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

/// The recording of a trace, in one file or several, and the report at its end.
class Recording : public TraceUse {
 public:
  explicit Recording(const RecordOptions& options) : options_(options) {}

  Result<void> open() override {
    if (options_.wants_report) output_.emplace(HAWK_TRY(options_.report.open_output()));
    return {};
  }

  bool wants_names() const override { return options_.symbols || options_.wants_report; }

  Result<void> open_for(ProcessTrace& trace) override { return begin_file(trace.snapshot(), 0); }

  Result<bool> watch(ProcessTrace& trace, SignalSource& signals, SignalRelay* relay) override {
    TraceWatchers watchers;
    watchers.interval = [this, &trace] { return append(trace, DumpCause::kNone); };
    watchers.dump = [this, &trace](DumpCause cause) -> Result<bool> {
      HAWK_TRY_VOID(append(trace, cause));
      return true;
    };
    return run_trace_loop(trace, options_, signals, relay, watchers);
  }

  Result<void> finish(ProcessTrace& trace, const Snapshot& last) override {
    HAWK_TRY_VOID(file_->writer.finish(file_->states.next(last, trace)));
    log_info(fmt::format("recorded {} stacks in {}, {}; hawktrace report shows them", last.stacks.size(),
                         file_->writer.path(), format_bytes(file_->writer.size_bytes(), NumberStyle::kReadable)));
    if (!output_) return {};
    return write_final_report(last, trace.symbolizer(), options_.report, options_.verbosity, *output_);
  }

 private:
  /// What is written now.
  struct File {
    RecordingWriter writer;
    RecordedStates states;
    std::uint64_t began_ns;  ///< since the trace began
  };

  /// `began_ns`: since the trace began, which it may not have yet.
  Result<void> begin_file(const Snapshot& now, std::uint64_t began_ns) {
    std::string name = recording_name(
        options_.pattern,
        {.host = host_name(), .comm = now.target().comm, .pid = now.target().pid, .unix_seconds = unix_seconds()});
    ++files_;
    if (name == last_name_) {
      name += fmt::format(".{}", files_);
    } else {
      last_name_ = name;
    }
    file_.emplace(
        File{HAWK_TRY(RecordingWriter::create(name, options_.overwrite)), RecordedStates(options_.symbols), began_ns});
    return {};
  }

  bool is_full(const Snapshot& now) const {
    const std::chrono::nanoseconds age(now.trace.duration_ns - file_->began_ns);
    return (options_.rotate_bytes && file_->writer.size_bytes() >= *options_.rotate_bytes) ||
           (options_.rotate_after && age >= *options_.rotate_after);
  }

  /// A file that is full ends with this interval, and the next one begins with all that is known.
  Result<void> append(ProcessTrace& trace, DumpCause cause) {
    Snapshot now = trace.snapshot();
    now.trace.dump_cause = cause;
    if (is_full(now)) {
      HAWK_TRY_VOID(file_->writer.finish(file_->states.next(now, trace)));
      HAWK_TRY_VOID(begin_file(now, now.trace.duration_ns));
    }
    return file_->writer.append(file_->states.next(now, trace));
  }

  const RecordOptions& options_;
  std::optional<File> file_;
  std::string last_name_;  ///< as the pattern gave it
  int files_ = 0;
  std::optional<ReportOutput> output_;
};

void add_recording_rows(OptionRows& rows, RecordOptions& options) {
  using Value = OptionRow::Value;
  rows.push_back({"-o,--output", Value::kRequired, "FILE", kRecordingGroup,
                  "the recording (default hawktrace.%e.%p.hawk): %h stands\nfor the host, %e for the program, %p for "
                  "its process\nid, %t for the time in seconds, %% for %",
                  [&options](OptionValue v) -> Result<void> {
                    options.pattern = HAWK_TRY(parse_file_name(v, "leave the option out to get a name made"));
                    return {};
                  }});
  rows.push_back({"--force", Value::kNone, nullptr, kRecordingGroup, "overwrite a file that is there already",
                  turn_on(options.overwrite)});
  rows.push_back({"--symbols", Value::kNone, nullptr, kRecordingGroup,
                  "store functions, files and lines too: for where the\nbinaries will not be found any more",
                  turn_on(options.symbols)});
  rows.push_back({"--rotate-size", Value::kRequired, "BYTES", kRecordingGroup,
                  "begin another file when one has as many: 64M. Without\n%t in its name it gets a number",
                  [&options](OptionValue v) { return set_size(options.rotate_bytes, v); }});
  rows.push_back({"--rotate-every", Value::kRequired, "TIME", kRecordingGroup,
                  "begin another file when one is as old: 1h",
                  [&options](OptionValue v) { return set_time_span(options.rotate_after, v, kMinInterval); }});
}

}  // namespace

const CommandText& record_text() {
  static const CommandText text = {
      .name = "hawktrace record",
      .title = "record the heap of a process to a file",
      .summary = "Records the heap of a process to a file, interval by interval.",
      .description =
          "hawktrace record traces as hawktrace does, and writes what it counts to a file: at each interval what has "
          "changed since the one before. The file grows with stacks and intervals, not with calls. Whatever ends the "
          "recording, a SIGKILL or a full disk, the file can be read up to its last complete interval. hawktrace "
          "report makes of it the reports that there would have been; names are looked up then, by build id, unless "
          "--symbols stores them.",
      .usage = kUsage,
      .examples = kExamples,
      .exits = trace_exits(),
      .command_exits = trace_command_exits(),
  };
  return text;
}

OptionRows record_rows(RecordOptions& options) {
  OptionRows rows;
  add_target_rows(rows, options);
  add_time_rows(rows, options);
  add_dump_rows(rows, options.dumps, kTimeGroup);
  add_kill_row(rows, options);
  add_recording_rows(rows, options);
  add_report_rows(
      rows, options.report,
      {.output_option = "--report", .output_help = "also write the report at the end to FILE, - for stdout"});
  add_tracing_rows(rows, options);
  add_ready_row(rows, options);
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> record_command(int argc, const char* const* argv) {
  TraceWords words = split_command(argc, argv, 2);
  RecordOptions options;
  options.trace.command = std::move(words.command);
  const auto parsed = HAWK_TRY(parse_command_line(record_text(), record_rows(options), words.own));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const ParsedLine& line = std::get<ParsedLine>(parsed);
  HAWK_TRY_VOID(check_trace(record_text(), line, options, words.has_separator));
  options.wants_report = line.has("--report");
  set_verbosity(options.verbosity);
  Recording recording(options);
  return run_trace(options, recording);
}

}  // namespace hawk
