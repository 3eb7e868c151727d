// What has changed between two recordings, or between two times of one.
#include "userspace/commands/diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "symbolizer/frame_role.h"
#include "userspace/analysis/diff_flame_graph.h"
#include "userspace/analysis/diff_text.h"
#include "userspace/commands/command.h"
#include "userspace/commands/offline_symbolizer.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/recorded_options.h"
#include "userspace/commands/report_options.h"
#include "userspace/commands/trace_options.h"
#include "userspace/commands/view_options.h"
#include "userspace/export/report_output.h"
#include "userspace/recording/recording_reader.h"

namespace hawk {
namespace {

using Value = OptionRow::Value;

constexpr const char* kFilesGroup = "What to compare";
constexpr const char* kDiffGroup = "Difference";
constexpr const char* kUsage[] = {"[OPTIONS] BEFORE AFTER", "[OPTIONS] FILE --from TIME [--to TIME]"};

constexpr Example kExamples[] = {
    {"hawktrace diff monday.hawk tuesday.hawk", "compare two runs, or two builds"},
    {"hawktrace diff heap.hawk --from 10m", "from ten minutes to the end"},
    {"hawktrace diff monday.hawk tuesday.hawk --format flamegraph -o diff.html", "as a flame graph"},
    {"hawktrace diff heap.hawk --from 10m --to 20m --top 0 --format json", "for programs"},
};

constexpr std::array<GroupKind, 3> kProcessKinds{GroupKind::kProcess, GroupKind::kExecutable, GroupKind::kCgroup};
constexpr std::array<std::string_view, 3> kForms{"text", "json", "flamegraph"};  // in the order of the enumerators

/// A state of a recording and its names.
struct State {
  RecordingReader reader;
  OfflineSymbolizer symbolizer;

  static Result<std::unique_ptr<State>> read(const std::string& path, std::optional<std::chrono::nanoseconds> at,
                                             std::optional<TargetChoice> target, const ModuleSearch& search,
                                             Verbosity verbosity) {
    RecordingReader reader = HAWK_TRY(read_recording(path, at, target, verbosity));
    return std::make_unique<State>(std::move(reader), search);
  }
  State(RecordingReader read, const ModuleSearch& search)
      : reader(std::move(read)), symbolizer(reader.snapshot(), reader.names(), search) {}
};

Result<int> write_diff(const DiffOptions& options) {
  const std::unique_ptr<Debuginfod> debuginfod = HAWK_TRY(Debuginfod::make(options.debuginfod, options.verbosity));
  const ModuleSearch search = with_debuginfod(options.search, debuginfod.get());
  const std::unique_ptr<State> before =
      HAWK_TRY(State::read(options.before, options.from, options.target, search, options.verbosity));
  const std::unique_ptr<State> after =
      HAWK_TRY(State::read(options.after, options.to, options.target, search, options.verbosity));
  ReportOutput output = HAWK_TRY(ReportOutput::make(options.output_path));
  const auto stacks_of = [&options](State& state) {
    const ReportRequest request = {.snapshot = state.reader.snapshot(),
                                   .symbolizer = state.symbolizer,
                                   .selection = {.top = 0},
                                   .filter = options.filter,
                                   .grouping = {.by = options.by}};
    return ExportedStacks(request, ExportedStacks::Names::kShort);
  };
  const ExportedStacks stacks_before = stacks_of(*before);
  const ExportedStacks stacks_after = stacks_of(*after);
  if (options.form == DiffOptions::Form::kFlameGraph) {
    const FlameGraph graph = diff_flame_graph(stacks_before, stacks_after, options.selection.sort, options.filter);
    HAWK_TRY_VOID(output.write([&](const TextSink& sink) { write_flame_graph_page(graph, sink); }));
    return static_cast<int>(ExitCode::kOk);
  }
  const SnapshotDiff diff = diff_of(stacks_before, stacks_after, options.selection, options.filter);
  const DiffTextOptions text = {.role_of = frame_role,
                                .numbers = options.raw_bytes ? NumberStyle::kRaw : NumberStyle::kReadable,
                                .full_stacks = options.full_stacks};
  HAWK_TRY_VOID(
      output.write(options.form == DiffOptions::Form::kJson ? render_diff_json(diff) : render_diff_text(diff, text)));
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

const CommandText& diff_text() {
  static const CommandText text = {
      .name = "hawktrace diff",
      .title = "show what has changed between two recordings",
      .summary = "Shows what has changed between two recordings, or between two times of one.",
      .description =
          "hawktrace diff compares two recordings stack by stack, by the names of functions and modules, not by "
          "addresses, so that another run or another build of the same program can be compared. Stacks with the same "
          "names are merged.",
      .usage = kUsage,
      .examples = kExamples,
      .exits = recorded_exits(),
      .command_exits = {},
  };
  return text;
}

OptionRows diff_rows(DiffOptions& options) {
  OptionRows rows;
  const auto time = [](const char* name, const char* help, std::optional<std::chrono::nanoseconds>& target) {
    return OptionRow{
        name,   Value::kRequired,
        "TIME", kFilesGroup,
        help,   [&target](OptionValue v) { return set_time_span(target, v, std::chrono::nanoseconds(0)); }};
  };
  rows.push_back(
      {"", Value::kArgument, "BEFORE AFTER", kFilesGroup, "written by hawktrace record; with --from, a single file"});
  rows.push_back(time("--from",
                      "the state of the first file at this time after its trace\nbegan: 90s, 1h30m (default: its end)",
                      options.from));
  rows.push_back(time("--to", "the same for the second file", options.to));
  rows.push_back(target_row(options.target, kFilesGroup));
  const OptionRow added[] = {
      {"--format", Value::kRequired, "NAME", kDiffGroup,
       "text, json or flamegraph, a page for a web browser with\nall stacks of both (default text)",
       [&options](OptionValue v) { return set_choice(options.form, v, kForms); }},
      {"-o,--output", Value::kRequired, "FILE", kDiffGroup, "write it to FILE, completely or not at all",
       [&options](OptionValue v) -> Result<void> {
         options.output_path = HAWK_TRY(parse_file_name(v, "omit the option to write to stdout"));
         return {};
       }},
      {"--sort", Value::kRequired, "KEY", kDiffGroup,
       "by the change of: live, live-count, allocated,\nallocated-count or freed-count (default live)",
       [&options](OptionValue v) { return set_sort(options.selection.sort, v); }},
      {"--top", Value::kRequired, "N", kDiffGroup, "show the first N stacks, 0 for all (default 10)",
       [&options](OptionValue v) { return set_number(options.selection.top, v, 0, kMaxTop); }},
      {"--min-size", Value::kRequired, "BYTES", kDiffGroup, "leave out stacks that have changed by fewer bytes",
       [&options](OptionValue v) { return set_size(options.selection.min_size_bytes, v); }},
      {"--by", Value::kRequired, "WHAT", kDiffGroup,
       "process, exe or cgroup: compare only stacks of the same\none, which is then their outermost call",
       [&options](OptionValue v) { return set_named(options.by, v, kProcessKinds, group_kind_name); }},
      {"--full-stacks", Value::kNone, nullptr, kDiffGroup, "show every frame, folding none",
       turn_on(options.full_stacks)},
      {"--bytes", Value::kNone, nullptr, kDiffGroup, "plain numbers of bytes, not KiB and MiB",
       turn_on(options.raw_bytes)},
  };
  rows.insert(rows.end(), std::begin(added), std::end(added));
  add_filter_rows(rows, options.filter, kDiffGroup);
  add_symbol_rows(rows, options.search, options.debuginfod);
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<int> diff_command(int argc, const char* const* argv) {
  DiffOptions options;
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  const auto parsed = HAWK_TRY(parse_command_line(diff_text(), diff_rows(options), words, 2));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const ParsedLine& line = std::get<ParsedLine>(parsed);
  const std::vector<std::string>& files = line.arguments;
  HAWK_TRY_VOID(check_verbosity(diff_text(), line));
  if (files.size() > 2) {
    return usage_error(diff_text(), fmt::format("'{}': unexpected argument", files[2]), "give two recordings");
  }
  if (files.empty() || (files.size() == 1 && !options.from)) {
    return usage_error(diff_text(), "nothing to compare with",
                       "name two recordings, or two times of one: hawktrace diff FILE --from TIME");
  }
  options.before = files.front();
  options.after = files.back();
  set_verbosity(options.verbosity);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is not an error
  return write_diff(options);
}

}  // namespace hawk
