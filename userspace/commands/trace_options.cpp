#include "userspace/commands/trace_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "userspace/commands/option_setters.h"
#include "userspace/commands/report_options.h"

namespace hawk {
namespace {

constexpr std::chrono::nanoseconds kMinDuration = std::chrono::milliseconds(1);
constexpr std::uint64_t kMinStacks = 16;

constexpr std::array kAttachWays{AttachWay::kPoints, AttachWay::kSession, AttachWay::kMulti, AttachWay::kPerf};
constexpr std::array kLinkScopes{LinkScope::kProcess, LinkScope::kFile};
constexpr std::array kLiveTables{LiveTable::kArena, LiveTable::kHash};
constexpr std::array kUnwindMethods{UnwindMethod::kAuto, UnwindMethod::kCfi, UnwindMethod::kFramePointers};

constexpr auto kNone = OptionRow::Value::kNone;
constexpr auto kOptional = OptionRow::Value::kOptional;
constexpr auto kRequired = OptionRow::Value::kRequired;

/// Each promise is demanded by itself; the option alone demands exact numbers of the whole.
Result<void> set_required(Required& required, OptionValue value) {
  constexpr std::array<std::string_view, 4> kPromises{"numbers", "children", "stacks", "all"};
  required = {};
  if (value.text.empty()) {
    required = {.numbers = true, .children = true};
    return {};
  }
  for (std::string_view rest = value.text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const std::size_t promise = HAWK_TRY(parse_choice({value.option, word, value.command}, kPromises));
    const bool all = promise == 3;
    required.numbers = required.numbers || all || promise == 0;
    required.children = required.children || all || promise == 1;
    required.stacks = required.stacks || all || promise == 2;
  }
  return {};
}

auto set_verbosity_to(Verbosity& target, Verbosity verbosity) {
  return [&target, verbosity](OptionValue) -> Result<void> {
    target = verbosity;
    return {};
  };
}

auto set_to(std::optional<bool>& target, bool value) {
  return [&target, value](OptionValue) -> Result<void> {
    target = value;
    return {};
  };
}

constexpr ExitRow kExits[] = {
    {"0", "success"},
    {"2", "malformed command line"},
    {"3", "no such process, or it ended before the trace began"},
    {"4", "missing privilege, or a missing kernel feature"},
    {"5", "finished, but something was missed (only with --require-exact)"},
    {"6", "a file could not be read or written"},
    {"70", "a bug in hawktrace"},
};

constexpr ExitRow kCommandExits[] = {
    {"125", "hawktrace itself failed"},
    {"126", "the command was found, but cannot be executed"},
    {"127", "the command was not found"},
    {"5", "as above"},
    {"other", "the command's, 128 + N if signal N ended it; 0 if the trace ended first"},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// What to say about words that belong to no option.
std::string hint_for(const CommandText& text, const std::string& word, const TraceOptions& options) {
  if (is_number(word)) return fmt::format("to attach to that process: {} -p {}", text.name, word);
  if (!options.processes.empty() || options.starts_command() || word.empty()) return {};
  return fmt::format("to start a command: {} -- {}", text.name, word);
}

void add_new(std::vector<int>& pids, const std::vector<int>& more) {
  for (const int pid : more) {
    if (std::find(pids.begin(), pids.end(), pid) == pids.end()) pids.push_back(pid);
  }
}

Result<void> take_arguments(const CommandText& text, const ParsedLine& line, TraceOptions& options) {
  for (const std::string& word : line.arguments) {
    if (options.processes.pids.empty() || !is_number(word)) {
      return usage_error(text, fmt::format("'{}': unexpected argument", word), hint_for(text, word, options));
    }
    add_new(options.processes.pids, HAWK_TRY(parse_pids({"--pid", word, text.name}, ::getpid())));
  }
  return {};
}

Result<void> check_target(const CommandText& text, const TraceOptions& options, bool has_separator) {
  const ProcessQuery& processes = options.processes;
  const std::string given = text_of(processes);
  const std::string option = given.substr(0, given.find(' '));
  if (!processes.empty() && has_separator) {
    return usage_error(text,
                       fmt::format("use either {} or -- COMMAND, not both", processes.pids.empty() ? option : "-p"),
                       "leave one of them out");
  }
  if (has_separator && !options.starts_command()) {
    return usage_error(text, "--: no command follows", fmt::format("{} -- COMMAND [ARGS...]", text.name));
  }
  if (processes.empty() && !has_separator) {
    return usage_error(text, "nothing to trace: neither -p PID nor -- COMMAND was given",
                       fmt::format("{0} -p PID, or {0} -- COMMAND; {0} --help lists other ways", text.name));
  }
  if (!processes.pids.empty() && processes.has_criteria()) {
    return usage_error(text, "use either -p or options that select processes, not both",
                       "omit -p, or give all processes by -p");
  }
  return {};
}

/// A row of an option that adds to a list of texts.
OptionRow list_row(const char* names, const char* value_name, const char* help, std::vector<std::string>& values) {
  const auto add = [&values](OptionValue value) -> Result<void> {
    if (value.text.empty()) {
      return fail(ExitCode::kUsage, fmt::format("{}: the value is empty", value.option),
                  fmt::format("{} --help explains it", value.command));
    }
    values.emplace_back(value.text);
    return {};
  };
  return {names, kRequired, value_name, kTargetGroup, help, add, true};
}

/// To the processes that the traced ones make.
bool do_probes_pass_on(const TraceConfig& trace) {
  const AttachWay way = trace.attach_via.value_or(AttachWay::kPerf);
  return trace.links == LinkScope::kFile || way == AttachWay::kPerf || way == AttachWay::kPoints;
}

/// Links for files, attached in a way that has none.
bool trace_links_need_sessions(const TraceConfig& trace) {
  return trace.links == LinkScope::kFile &&
         (trace.attach_via == AttachWay::kMulti || trace.attach_via == AttachWay::kPerf);
}

}  // namespace

void add_target_rows(OptionRows& rows, TraceOptions& options) {
  ProcessQuery& processes = options.processes;
  rows.push_back({"-p,--pid", kRequired, "PID", kTargetGroup, "a running process; it is not stopped",
                  [&processes](OptionValue v) -> Result<void> {
                    add_new(processes.pids, HAWK_TRY(parse_pids(v, ::getpid())));
                    return {};
                  },
                  true});
  rows.push_back(
      list_row("--name", "NAME", "processes of the program NAME, as pidof and pgrep -x\nfind them", processes.names));
  rows.push_back(
      list_row("--comm", "NAME", "processes that the kernel calls NAME (15 bytes or less)", processes.comms));
  rows.push_back(
      list_row("--exe", "PATTERN",
               "processes whose executable matches: '/opt/shop/*'; a\npattern without a slash matches the file name",
               processes.executables));
  rows.push_back(
      list_row("--cgroup", "PATH",
               "processes in this cgroup or below: a path as in\n/proc/PID/cgroup, or a directory below /sys/fs/cgroup",
               processes.cgroups));
  rows.push_back(
      list_row("--unit", "UNIT", "processes of this systemd unit; .service may be\nomitted", processes.units));
  rows.push_back(list_row("--container", "ID",
                          "processes of this container (docker, podman,\ncontainerd, CRI-O, lxc, systemd-nspawn); the "
                          "beginning\nof its id is enough",
                          processes.containers));
  rows.push_back({"--", OptionRow::Value::kArgument, "COMMAND [ARGS...]", kTargetGroup,
                  "start this command, with the probes in place before its\nfirst instruction"});
  rows.push_back(
      {"--follow", kNone, nullptr, kTargetGroup,
       "also trace its child processes, and theirs, from their\nfirst instruction (Linux 6.13; default except "
       "with -p,\n--name, --comm and --exe)",
       set_to(options.follow, true)});
  rows.push_back({"--no-follow", kNone, nullptr, kTargetGroup,
                  "count its child processes and name their programs, but\ndo not trace them",
                  set_to(options.follow, false)});
  rows.push_back({"--hold", kNone, nullptr, kTargetGroup,
                  "with --follow: a thread that maps a new file waits until\nthe file is probed (Linux 6.18; default "
                  "with\n-- COMMAND)",
                  set_to(options.hold, true)});
  rows.push_back({"--no-hold", kNone, nullptr, kTargetGroup, "no thread waits: what is missed in a new file is counted",
                  set_to(options.hold, false)});
  rows.push_back({"--user", kRequired, "USER", kTargetGroup,
                  "with -- COMMAND: run it as this user, a name or number,\nwith the groups of that user and without "
                  "capabilities",
                  [&options](OptionValue v) -> Result<void> {
                    options.user = HAWK_TRY(find_user(v.text));
                    return {};
                  }});
}

void add_time_rows(OptionRows& rows, TraceOptions& options) {
  rows.push_back(
      {"--duration", kRequired, "TIME", kTimeGroup,
       "stop after this time: 0.2, 1.5s, 250ms, 10 (seconds),\n1h30m (default: at Ctrl-C, or when the process ends)",
       [&options](OptionValue v) { return set_time_span(options.duration, v, kMinDuration); }});
  rows.push_back({"--interval", kRequired, "TIME", kTimeGroup,
                  "how often the counters are read and the screen is\nredrawn, 100ms or more (default 1s); ages are "
                  "known to\nthis precision",
                  [&options](OptionValue v) { return set_time_span(options.trace.interval, v, kMinInterval); }});
  rows.push_back({"--mark-every", kRequired, "TIME", kTimeGroup,
                  "begin a generation of blocks this often, as SIGUSR2 and\nthe key m do: see --generation",
                  [&options](OptionValue v) { return set_time_span(options.mark_every, v, kMinInterval); }});
}

void add_kill_row(OptionRows& rows, TraceOptions& options) {
  rows.push_back({"--kill", kNone, nullptr, kTimeGroup,
                  "with --duration and -- COMMAND: also end the command\n(SIGTERM, then SIGKILL after 5 s); otherwise "
                  "it runs on",
                  turn_on(options.kill_command)});
}

void add_tracing_rows(OptionRows& rows, TraceOptions& options) {
  TraceConfig& trace = options.trace;
  const OptionRow added[] = {
      {"--min-block", kRequired, "BYTES", kTracingGroup,
       "ignore blocks smaller than BYTES, which halves the cost\nof such a call",
       [&trace](OptionValue v) { return set_size(trace.min_block_bytes, v); }},
      {"--mappings", kNone, nullptr, kTracingGroup,
       "also follow what is mapped beside the heap (mmap, brk,\nshmat, thread stacks, files), and report it by stack",
       turn_on(trace.follows_regions)},
      {"--stack-depth", kRequired, "N", kTracingGroup, "frames kept per stack, 1 to 256 (default 256)",
       [&trace](OptionValue v) { return set_number(trace.stack_depth, v, 1, kMaxStackDepth); }},
      {"--attach-via", kRequired, "WAY", kTracingGroup,
       "how probes are attached: session (Linux 6.13), multi\n(6.6), perf, or points: inside functions whose "
       "code\nallows "
       "it, without return probes, others by the fastest\nof these; auto (default): points, before Linux 6.6 perf",
       [&trace](OptionValue v) { return set_choice_or_auto(trace.attach_via, v, kAttachWays, attach_way_name); }},
      {"--links", kRequired, "SCOPE", kTracingGroup,
       "scope of the probes: process, a separate set for each,\nwhich slows down the other traced processes; file, "
       "one\nset for all that map the file, where untraced processes\npay for traps too (Linux 6.13); auto (default), "
       "the one\nwith the lower total cost",
       [&trace](OptionValue v) { return set_choice_or_auto(trace.links, v, kLinkScopes, link_scope_name); }},
      {"--unwind", kRequired, "HOW", kTracingGroup,
       "how stacks are walked: cfi, by unwind tables; fp, along\nframe pointers; auto (default), along frame "
       "pointers\nonly where there is no table",
       [&trace](OptionValue v) { return set_named(trace.unwind, v, kUnwindMethods, unwind_method_name); }},
      {"--live-table", kRequired, "KIND", kTracingGroup,
       "where the kernel keeps live blocks: auto, arena (Linux\n6.10) or hash (default auto: the arena if possible)",
       [&trace](OptionValue v) { return set_choice_or_auto(trace.live_table, v, kLiveTables, live_table_name); }},
      {"--max-blocks", kRequired, "N", kTracingGroup,
       "maximum number of live blocks, 1 to 67108864; an arena\nalways has room for 9000 (default: 67108864 in "
       "an\narena, 1048576 in a hash map; memory is allocated as\nneeded)",
       [&trace](OptionValue v) { return set_number(trace.max_blocks, v, 1, kMaxBlocks); }},
      {"--max-stacks", kRequired, "N", kTracingGroup,
       "maximum number of distinct stacks, 16 to 1000000\n(default 131072)",
       [&trace](OptionValue v) { return set_number(trace.max_stacks, v, kMinStacks, kMaxStacks); }},
      {"--max-memory", kRequired, "BYTES", kTracingGroup,
       "upper limit for the kernel's tables: 256M, 2G (default:\nwhat they need; the minimum depends on "
       "--max-stacks\nand is printed if it is not met)",
       [&trace](OptionValue v) { return set_size(trace.max_memory_bytes, v); }},
      {"--require-exact", kOptional, "WHAT", kTracingGroup,
       "exit with status 5 if anything in WHAT was missed, a\nlist of: numbers (of this process), children (some "
       "were\nnot traced), stacks (some are incomplete), all\n(default: numbers,children)",
       [&options](OptionValue v) { return set_required(options.required, v); }},
      {"--verify", kNone, nullptr, kTracingGroup,
       "at the end, compare the counters with the table of\nlive blocks and report the result",
       turn_on(options.verify)},
  };
  rows.insert(rows.end(), std::begin(added), std::end(added));
}

void add_ready_row(OptionRows& rows, TraceOptions& options) {
  add_debuginfod_rows(rows, options.debuginfod, kOtherGroup);
  rows.push_back({"--ready-fd", kRequired, "N", kOtherGroup,
                  "write a line to descriptor N once all probes are in\nplace",
                  [&options](OptionValue v) -> Result<void> {
                    options.ready_fd = HAWK_TRY(parse_open_fd(v));
                    return {};
                  }});
}

void add_common_rows(OptionRows& rows, Verbosity& verbosity) {
  rows.push_back({"-q,--quiet", kNone, nullptr, kOtherGroup, "only errors and warnings on stderr",
                  set_verbosity_to(verbosity, Verbosity::kQuiet)});
  rows.push_back({"-v,--verbose", kNone, nullptr, kOtherGroup, "describe progress on stderr",
                  set_verbosity_to(verbosity, Verbosity::kVerbose)});
  rows.push_back({"--version", kNone, nullptr, kOtherGroup, "print the version"});
  rows.push_back({"-h,--help", kNone, nullptr, kOtherGroup, "print this help"});
}

TraceWords split_command(int argc, const char* const* argv, int first) {
  const std::vector<std::string> words(argv + std::min(argc, first), argv + argc);
  const auto separator = std::find(words.begin(), words.end(), "--");
  TraceWords split = {.own = {words.begin(), separator}, .command = {}, .has_separator = separator != words.end()};
  if (split.has_separator) split.command.assign(separator + 1, words.end());
  return split;
}

void settle_following(TraceOptions& options) {
  const ProcessQuery& processes = options.processes;
  const bool is_group = !processes.cgroups.empty() || !processes.units.empty() || !processes.containers.empty();
  const bool is_default = (options.starts_command() || is_group) && do_probes_pass_on(options.trace);
  TraceConfig& trace = options.trace;
  trace.follows_children = options.follow.value_or(is_default);
  trace.may_do_without_children = !options.follow;
  trace.holds = options.hold.value_or(trace.follows_children && options.starts_command());
}

Result<void> check_trace(const CommandText& text, const ParsedLine& line, TraceOptions& options, bool has_separator) {
  HAWK_TRY_VOID(take_arguments(text, line, options));
  HAWK_TRY_VOID(check_target(text, options, has_separator));
  HAWK_TRY_VOID(check_verbosity(text, line));
  if (options.user && !options.starts_command()) {
    return usage_error(text, "--user: no command to run as another user",
                       fmt::format("{} --user {} -- COMMAND", text.name, options.user->name));
  }
  settle_following(options);
  if (options.trace.follows_children && !do_probes_pass_on(options.trace)) {
    return usage_error(text,
                       fmt::format("--follow: probes attached via {} are not inherited by child processes",
                                   attach_way_name(*options.trace.attach_via)),
                       "leave --attach-via out: perf events are inherited");
  }
  if (trace_links_need_sessions(options.trace)) {
    return usage_error(
        text,
        fmt::format("--links file: not possible with --attach-via {}", attach_way_name(*options.trace.attach_via)),
        "leave one of them out: --links file requires sessions");
  }
  if (options.trace.holds && !options.trace.follows_children)
    return usage_error(text, "--hold: threads are held only with --follow", "add --follow, or leave --hold out");
  if (options.kill_command && (!options.starts_command() || !options.duration)) {
    return usage_error(text, "--kill: no command can outlive this trace",
                       fmt::format("use it with --duration: {} --duration 10 --kill -- COMMAND", text.name));
  }
  return {};
}

Result<void> check_verbosity(const CommandText& text, const ParsedLine& line) {
  if (!line.has("--quiet") || !line.has("--verbose")) return {};
  return usage_error(text, "use either --quiet or --verbose, not both", "leave one of them out");
}

void count_lives(TraceOptions& options, const ReportOptions& report) {
  options.keeps_peak = report.at_peak;
  options.trace.histograms = report.histograms;
  options.trace.by_thread = report.by_thread();
}

std::span<const ExitRow> trace_exits() { return kExits; }

std::span<const ExitRow> trace_command_exits() { return kCommandExits; }

}  // namespace hawk
