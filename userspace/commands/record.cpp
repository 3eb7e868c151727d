// Traces a process into a file.
#include "userspace/commands/record.h"

#include <fmt/core.h>
#include <sys/utsname.h>

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/base/unix_time.h"
#include "userspace/commands/command.h"
#include "userspace/commands/dump_options.h"
#include "userspace/commands/final_report.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/run_trace.h"
#include "userspace/commands/trace_loop.h"
#include "userspace/commands/traced_heap.h"
#include "userspace/export/report_output.h"
#include "userspace/recording/chunk_file.h"
#include "userspace/report/units.h"
#include "userspace/traces/recording_name.h"
#include "userspace/traces/trace_recording.h"

namespace hawk {
namespace {

constexpr const char* kRecordingGroup = "Recording";
constexpr const char* kUsage[] = {"[OPTIONS] -p PID", "[OPTIONS] --unit UNIT|--container ID|--name NAME|...",
                                  "[OPTIONS] -- COMMAND [ARGS...]"};

constexpr Example kExamples[] = {
    {"sudo hawktrace record -p 1234 -o heap.hawk", "until Ctrl-C"},
    {"hawktrace report heap.hawk", "the report of that trace"},
    {"sudo hawktrace record --symbols -o '%h.%e.%t' -- ./server", "named after host, program and time"},
};

std::string host_name() {
  utsname names;
  return ::uname(&names) == 0 ? names.nodename : "";
}

/// The recording of a trace, in one file or several, and the report at its end.
class Recording : public TraceUse {
 public:
  explicit Recording(const RecordOptions& options)
      : options_(options),
        recording_({.symbols = options.symbols,
                    .overwrite = options.overwrite,
                    .rotation = {.bytes = options.rotate_bytes, .after = options.rotate_after}},
                   [this] { return next_name(); }) {}

  Result<void> open() override {
    if (options_.wants_report) output_.emplace(HAWK_TRY(options_.report.open_output()));
    return {};
  }

  bool wants_names() const override { return options_.symbols || options_.wants_report; }

  Result<void> open_for(const Traces& traces) override {
    if (traces.size() > recording::kMaxTraces) {
      return fail(ExitCode::kUsage,
                  fmt::format("{} processes were found, and a recording holds at most {}", traces.size(),
                              recording::kMaxTraces),
                  "select fewer of them");
    }
    heap_.emplace(traces);
    named_after_ = traces.front()->snapshot().target();
    return recording_.begin_file();
  }

  Result<bool> watch(TracedProcesses& traced, SignalSource& signals, SignalRelay* relay) override {
    TraceWatchers watchers;
    watchers.interval = [this, &traced]() -> Result<void> {
      // How old blocks are is known at the end of each file.
      if (recording_.is_full()) HAWK_TRY_VOID(traced.group().read_lives());
      return append_all(DumpCause::kNone);
    };
    watchers.dump = [this](DumpCause cause) -> Result<bool> {
      HAWK_TRY_VOID(append_all(cause));
      return true;
    };
    watchers.ended = [this](ProcessTrace& trace) { return end_in_file(trace, trace.snapshot()); };
    return run_trace_loop(traced, *heap_, options_, signals, relay, watchers);
  }

  Result<void> finish(const Traces& traces, const std::vector<Snapshot>& last) override {
    heap_->note_drain(options_.keeps_peak);
    note_sum();
    std::size_t stacks = 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
      stacks += last[i].stacks.size();
      if (!ended_.contains(traces[i].get())) HAWK_TRY_VOID(end_in_file(*traces[i], last[i]));
    }
    log_info(fmt::format("recorded {} stack{}{} in {}, {}; hawktrace report shows them", stacks, stacks == 1 ? "" : "s",
                         traces.size() == 1 ? "" : fmt::format(" of {} processes", traces.size()), recording_.path(),
                         format_bytes(recording_.size_bytes(), NumberStyle::kReadable)));
    if (!output_) return {};
    const Snapshot sum = HAWK_TRY(options_.report.at_peak ? heap_->at_peak() : heap_->sum_of(last));
    return write_final_report(sum, heap_->symbolizer(), options_.report, options_.verbosity, *output_);
  }

 private:
  /// A name that the pattern gives again is numbered.
  std::string next_name() {
    constexpr std::uint64_t kSecondNs = 1'000'000'000;
    std::string name = recording_name(options_.pattern, {.host = host_name(),
                                                         .comm = named_after_.comm,
                                                         .pid = named_after_.pid,
                                                         .unix_seconds = unix_time_ns() / kSecondNs});
    ++files_;
    if (name == last_name_) {
      name += fmt::format(".{}", files_);
    } else {
      last_name_ = name;
    }
    return name;
  }

  Result<void> end_in_file(ProcessTrace& trace, const Snapshot& last) {
    HAWK_TRY_VOID(begin_those_before(trace));
    ended_.insert(&trace);
    return recording_.end(trace, last);
  }

  /// Traces stand in the file in the order in which they were found, as in the live report. A child may end before
  /// there is an interval of its parent.
  Result<void> begin_those_before(const ProcessTrace& trace) {
    if (std::string path = recording_.path(); path != begun_in_) {
      begun_in_ = std::move(path);
      begun_ = 0;
    }
    const Traces& traces = heap_->traces();
    for (; begun_ < traces.size() && traces[begun_].get() != &trace; ++begun_) {
      ProcessTrace& other = *traces[begun_];
      if (!ended_.contains(&other) && !recording_.has_part_of(other))
        HAWK_TRY_VOID(recording_.append(other, DumpCause::kNone));
    }
    return {};
  }

  /// An interval of each process that is still traced.
  Result<void> append_all(DumpCause cause) {
    note_sum();
    for (const auto& trace : heap_->traces()) {
      if (!ended_.contains(trace.get())) HAWK_TRY_VOID(recording_.append(*trace, cause));
    }
    return {};
  }

  /// Of one process alone, snapshots have it.
  void note_sum() {
    if (heap_->traces().size() > 1) recording_.note_sum_most(heap_->peak_live_bytes_most());
  }

  const RecordOptions& options_;
  std::optional<TracedHeap> heap_;
  TraceRecording recording_;
  TargetInfo named_after_;               ///< the first process, for the pattern
  std::set<const ProcessTrace*> ended_;  ///< those whose last interval has been written
  std::size_t begun_ = 0;                ///< so many of the first ones found have their place
  std::string begun_in_;                 ///< in this file
  std::string last_name_;                ///< as the pattern gave it
  int files_ = 0;
  std::optional<ReportOutput> output_;
};

void add_recording_rows(OptionRows& rows, RecordOptions& options) {
  using Value = OptionRow::Value;
  rows.push_back({"-o,--output", Value::kRequired, "FILE", kRecordingGroup,
                  "the recording (default hawktrace.%e.%p.hawk): %h stands\nfor the host, %e for the program, %p for "
                  "its process\nid, %t for the time in seconds, %% for %",
                  [&options](OptionValue v) -> Result<void> {
                    options.pattern = HAWK_TRY(parse_file_name(v, "omit the option to use the default name"));
                    return {};
                  }});
  rows.push_back(
      {"--force", Value::kNone, nullptr, kRecordingGroup, "overwrite an existing file", turn_on(options.overwrite)});
  rows.push_back({"--symbols", Value::kNone, nullptr, kRecordingGroup,
                  "also store functions, files and lines, for use where\nthe binaries are not available",
                  turn_on(options.symbols)});
  rows.push_back(
      {"--rotate-size", Value::kRequired, "BYTES", kRecordingGroup,
       "begin a new file when the current one reaches this size:\n64M; without %t in the name, files are numbered",
       [&options](OptionValue v) { return set_size(options.rotate_bytes, v); }});
  rows.push_back({"--rotate-every", Value::kRequired, "TIME", kRecordingGroup,
                  "begin a new file when the current one reaches this age:\n1h",
                  [&options](OptionValue v) { return set_time_span(options.rotate_after, v, kMinInterval); }});
}

}  // namespace

const CommandText& record_text() {
  static const CommandText text = {
      .name = "hawktrace record",
      .title = "record the heap of a process to a file",
      .summary = "Records the heap of a process to a file, interval by interval.",
      .description =
          "hawktrace record traces like hawktrace and writes the counters to a file: at each interval the changes "
          "since the previous one. The size of the file depends on stacks and intervals, not on calls. However the "
          "recording ends, even by SIGKILL or a full disk, the file can be read up to its last complete interval. "
          "hawktrace report makes the reports from it that the trace would have made; names are looked up at that "
          "time, by build id, unless --symbols stores them.",
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
  HAWK_TRY_VOID(check_moment(options.report));
  options.trace.reads_lives = true;
  count_lives(options, options.report);
  set_verbosity(options.verbosity);
  Recording recording(options);
  return run_trace(options, recording);
}

}  // namespace hawk
