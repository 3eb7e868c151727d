#include "userspace/commands/options.h"

#include <fmt/core.h>

#include <array>
#include <string>
#include <utility>

#include "userspace/commands/command.h"
#include "userspace/commands/dump_options.h"
#include "userspace/commands/option_setters.h"
#include "userspace/commands/view_options.h"

namespace hawk {
namespace {

/// "record|report --help".
const char* usage_of_other_commands() {
  static const std::string text = [] {
    std::string words;
    for (const Command& command : commands().subspan(1)) words.append(words.empty() ? "" : "|").append(command.word);
    return words + " --help";
  }();
  return text.c_str();
}

constexpr Example kExamples[] = {
    {"sudo hawktrace -p 1234", "live; q or Ctrl-C ends and reports"},
    {"sudo hawktrace -p 1234 --sort allocated", "all allocated bytes, freed or not"},
    {"sudo hawktrace --name redis --duration 10", "one report after 10 seconds"},
    {"sudo hawktrace --unit cron", "the processes of a systemd unit"},
    {"sudo hawktrace -p 1234 --duration 1m --format json -o heap.json", "the same, as JSON"},
    {"sudo hawktrace -- ./server --port 8080", "from its first instruction on"},
    {"sudo hawktrace record -p 1234 -o heap.hawk", "to a file, for hawktrace report"},
};

Result<void> check_report_every(const Options& options) {
  const Format& format = *options.report.format;
  if (!options.wants_several() || format.can_follow) return {};
  return fail(ExitCode::kUsage,
              fmt::format("{}: a file in the format {} holds a single report",
                          options.report_every ? "--report-every" : "--dump-...", format.name),
              "leave it out, or choose a format that can hold several: --format text or json");
}

}  // namespace

const CommandText& trace_text() {
  static const std::array<const char*, 4> usage = {"[OPTIONS] -p PID",
                                                   "[OPTIONS] --unit UNIT|--container ID|--name NAME|...",
                                                   "[OPTIONS] -- COMMAND [ARGS...]", usage_of_other_commands()};
  static const CommandText text = {
      .name = "hawktrace",
      .title = "show which call stacks of a process hold its heap",
      .summary = "Shows which call stacks of a process hold the heap that it allocates.",
      .description =
          "hawktrace attaches to a running process with eBPF probes on its allocator, without stopping, restarting or "
          "rebuilding it, and reports by call stack which code holds the heap allocated since then. Nothing is "
          "sampled: either the report is exact, or it says what is missing. Without --follow child processes are not "
          "traced; they are counted and their programs are named.",
      .usage = usage,
      .examples = kExamples,
      .exits = trace_exits(),
      .command_exits = trace_command_exits(),
  };
  return text;
}

OptionRows option_rows(Options& options) {
  OptionRows rows;
  add_target_rows(rows, options);
  add_time_rows(rows, options);
  rows.push_back({"--report-every", OptionRow::Value::kRequired, "TIME", kTimeGroup,
                  "write a report at this interval and at the end, with\nthe change since the previous one (JSON: one "
                  "document\nper line)",
                  [&options](OptionValue v) { return set_time_span(options.report_every, v, kMinInterval); }});
  add_dump_rows(rows, options.dumps, kTimeGroup);
  add_kill_row(rows, options);
  add_report_rows(rows, options.report);
  add_tracing_rows(rows, options);
  add_ready_row(rows, options);
  add_common_rows(rows, options.verbosity);
  return rows;
}

Result<ParsedOptions> parse_options(int argc, const char* const* argv) {
  TraceWords words = split_command(argc, argv, 1);
  Options options;
  options.trace.command = std::move(words.command);
  const auto parsed = HAWK_TRY(parse_command_line(trace_text(), option_rows(options), words.own));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return *info;
  HAWK_TRY_VOID(check_trace(trace_text(), std::get<ParsedLine>(parsed), options, words.has_separator));
  HAWK_TRY_VOID(check_report_every(options));
  HAWK_TRY_VOID(check_moment(options.report));
  options.trace.reads_lives = options.report.wants_lives();
  options.trace.age_window = options.report.ages;
  count_lives(options, options.report);
  return options;
}

}  // namespace hawk
