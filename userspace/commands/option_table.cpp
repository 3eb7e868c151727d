// The options and what is said about them, for the parser, --help and the man page.
#include "userspace/commands/option_table.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "userspace/commands/folded_functions.h"

namespace hawk {
namespace {

constexpr std::chrono::nanoseconds kMinDuration = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kMinInterval = std::chrono::milliseconds(100);
constexpr std::uint64_t kMaxTop = 1048576;  // as many as there can be stacks
constexpr std::uint64_t kMinStacks = 16;

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kColors{"auto", "always", "never"};

constexpr std::array kAttachWays{AttachWay::kSession, AttachWay::kMulti, AttachWay::kPerf};
constexpr std::array kLiveTables{LiveTable::kArena, LiveTable::kHash};
constexpr std::array kUnwindMethods{UnwindMethod::kAuto, UnwindMethod::kCfi, UnwindMethod::kFramePointers};

/// One of `choices`, by the name that it has everywhere.
template <class Enum, std::size_t N>
Result<void> set_named(Enum& target, OptionValue value, const std::array<Enum, N>& choices,
                       std::string_view (*name_of)(Enum)) {
  std::array<std::string_view, N> names;
  std::transform(choices.begin(), choices.end(), names.begin(), name_of);
  target = choices[HAWK_TRY(parse_choice(value, names))];
  return {};
}

/// The same, or "auto", which leaves it open.
template <class Enum, std::size_t N>
Result<void> set_choice_or_auto(std::optional<Enum>& target, OptionValue value, const std::array<Enum, N>& choices,
                                std::string_view (*name_of)(Enum)) {
  std::array<std::string_view, N + 1> names{"auto"};
  std::transform(choices.begin(), choices.end(), names.begin() + 1, name_of);
  const std::size_t choice = HAWK_TRY(parse_choice(value, names));
  if (choice == 0) {
    target.reset();
  } else {
    target = choices[choice - 1];
  }
  return {};
}

template <class Enum>
Result<void> set_choice(Enum& target, OptionValue value, std::span<const std::string_view> names) {
  target = static_cast<Enum>(HAWK_TRY(parse_choice(value, names)));
  return {};
}

template <class Number>
Result<void> set_number(Number& target, OptionValue value, std::uint64_t min, std::uint64_t max) {
  target = static_cast<std::uint32_t>(HAWK_TRY(parse_number(value, min, max)));
  return {};
}

template <class Span>
Result<void> set_time_span(Span& target, OptionValue value, std::chrono::nanoseconds min) {
  target = HAWK_TRY(parse_time_span(value, min));
  return {};
}

template <class Size>
Result<void> set_size(Size& target, OptionValue value) {
  target = HAWK_TRY(parse_size_bytes(value));
  return {};
}

Result<void> set_sort(Options& options, OptionValue value) {
  const std::array<std::string_view, 5> names{
      sort_key_name(SortKey::kLive), sort_key_name(SortKey::kLiveCount), sort_key_name(SortKey::kAllocated),
      sort_key_name(SortKey::kAllocatedCount), sort_key_name(SortKey::kFreedCount)};
  return set_choice(options.sort, value, names);
}

/// "text or json", "text, json or csv": the names of formats for which `is_named`.
template <class Predicate>
std::string format_names(Predicate is_named) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) {
    if (is_named(format)) names.emplace_back(format.name);
  }
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " or " : ", ", names[i]);
  }
  return text;
}

std::string format_help() {
  return fmt::format("{} (default {})", format_names([](const Format&) { return true; }), formats().front().name);
}

std::string top_help() {
  return fmt::format("show the first N stacks, 0 for all that --min-size\nleaves (default: {} as {}, all as {})",
                     kTopForPeople, format_names([](const Format& format) { return format.is_for_people; }),
                     format_names([](const Format& format) { return !format.is_for_people; }));
}

Result<void> set_format(Options& options, OptionValue value) {
  std::vector<std::string_view> names;
  for (const Format& format : formats()) names.emplace_back(format.name);
  options.format = &formats()[HAWK_TRY(parse_choice(value, names))];
  return {};
}

Result<void> set_pid(Options& options, OptionValue value) {
  options.trace.pid = HAWK_TRY(parse_pid(value, ::getpid()));
  return {};
}

Result<void> set_ready_fd(Options& options, OptionValue value) {
  options.ready_fd = HAWK_TRY(parse_open_fd(value));
  return {};
}

Result<void> set_hide(Options& options, OptionValue value) {
  options.hide = HAWK_TRY(parse_pattern(value));
  return {};
}

Result<void> set_output(Options& options, OptionValue value) {
  if (value.text.empty()) {
    return fail(ExitCode::kUsage, fmt::format("{}: '' is not a file name", value.option),
                "leave the option out to get the report on stdout");
  }
  options.output_path = std::string(value.text);
  return {};
}

/// Each promise is demanded by itself; the option alone demands exact numbers of the whole.
Result<void> set_required(Options& options, OptionValue value) {
  constexpr std::array<std::string_view, 4> kPromises{"numbers", "children", "stacks", "all"};
  options.required = {};
  if (value.text.empty()) {
    options.required = {.numbers = true, .children = true};
    return {};
  }
  for (std::string_view rest = value.text; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    const std::size_t promise = HAWK_TRY(parse_choice({value.option, word}, kPromises));
    const bool all = promise == 3;
    options.required.numbers = options.required.numbers || all || promise == 0;
    options.required.children = options.required.children || all || promise == 1;
    options.required.stacks = options.required.stacks || all || promise == 2;
  }
  return {};
}

constexpr const char* kTarget = "What to trace (one of the two)";
constexpr const char* kTime = "How long";
constexpr const char* kReport = "Report";
constexpr const char* kTracing = "Tracing";
constexpr const char* kOther = "Other";

constexpr auto kNone = OptionRow::Value::kNone;
constexpr auto kOptional = OptionRow::Value::kOptional;
constexpr auto kRequired = OptionRow::Value::kRequired;

/// For an option without a value.
template <bool Options::*Member>
Result<void> turn_on(Options& options, OptionValue) {
  options.*Member = true;
  return {};
}

template <Verbosity value>
Result<void> set_verbosity_to(Options& options, OptionValue) {
  options.verbosity = value;
  return {};
}

constexpr OptionRow kRows[] = {
    {"-p,--pid", kRequired, "PID", kTarget, "the running process, which is not stopped", set_pid},
    {"--duration", kRequired, "TIME", kTime,
     "stop after that long: 0.2, 1.5s, 250ms, 10 (seconds),\n1h30m (default: until Ctrl-C, or until the process ends)",
     [](Options& o, OptionValue v) { return set_time_span(o.duration, v, kMinDuration); }},
    {"--interval", kRequired, "TIME", kTime,
     "how often the counters are read and the screen is\nredrawn, 100ms or more (default 1s)",
     [](Options& o, OptionValue v) { return set_time_span(o.trace.interval, v, kMinInterval); }},
    {"--report-every", kRequired, "TIME", kTime,
     "write a report that often and at the end, with the\nchange since the one before (JSON: a document a line)",
     [](Options& o, OptionValue v) { return set_time_span(o.report_every, v, kMinInterval); }},
    {"--kill", kNone, nullptr, kTime,
     "with --duration and -- COMMAND: end the command as well\n(SIGTERM, then SIGKILL after 5 s); else it runs on",
     turn_on<&Options::kill_command>},
    {"--format", kRequired, "FORMAT", kReport, nullptr, set_format, format_help},
    {"-o,--output", kRequired, "FILE", kReport, "write the report to FILE, completely or not at all", set_output},
    {"--sort", kRequired, "KEY", kReport,
     "live, live-count, allocated, allocated-count or\nfreed-count (default live: bytes not freed)", set_sort},
    {"--top", kRequired, "N", kReport, nullptr,
     [](Options& o, OptionValue v) { return set_number(o.top, v, 0, kMaxTop); }, top_help},
    {"--min-size", kRequired, "BYTES", kReport, "leave out stacks with fewer bytes than that: 4096, 4k,\n1MiB",
     [](Options& o, OptionValue v) { return set_size(o.min_size_bytes, v); }},
    {"--hide", kRequired, "REGEX", kReport,
     "also fold functions whose name, as the report shows it,\nmatches: an application's own wrappers of malloc "
     "that\nare "
     "not known (extended regular expression)",
     set_hide},
    {"--color", kRequired, "WHEN", kReport, "auto, always or never (default auto, which honours\nNO_COLOR)",
     [](Options& o, OptionValue v) { return set_choice(o.color, v, kColors); }},
    {"--full-stacks", kNone, nullptr, kReport,
     "fold, shorten and leave out nothing: every frame of\nevery stack, with its whole name, address, file and\nmodule",
     turn_on<&Options::full_stacks>},
    {"--bytes", kNone, nullptr, kReport, "plain numbers of bytes, not KiB and MiB", turn_on<&Options::raw_bytes>},
    {"--min-block", kRequired, "BYTES", kTracing,
     "ignore blocks smaller than that, which halves the cost\nof such a call",
     [](Options& o, OptionValue v) { return set_size(o.trace.min_block_bytes, v); }},
    {"--stack-depth", kRequired, "N", kTracing, "frames kept of a stack, 1 to 256 (default 256)",
     [](Options& o, OptionValue v) { return set_number(o.trace.stack_depth, v, 1, kMaxStackDepth); }},
    {"--attach-via", kRequired, "WAY", kTracing,
     "how probes are attached: auto, session (Linux 6.13),\nmulti (6.6) or perf (default auto: the fastest there is)",
     [](Options& o, OptionValue v) { return set_choice_or_auto(o.trace.attach_via, v, kAttachWays, attach_way_name); }},
    {"--unwind", kRequired, "HOW", kTracing,
     "how stacks are walked: cfi, by unwind tables; fp, along\nframe pointers; auto (default), along frame "
     "pointers\nonly where there is no table",
     [](Options& o, OptionValue v) { return set_named(o.trace.unwind, v, kUnwindMethods, unwind_method_name); }},
    {"--live-table", kRequired, "KIND", kTracing,
     "where the kernel keeps live blocks: auto, arena (Linux\n6.10) or hash (default auto: the arena if there is one)",
     [](Options& o, OptionValue v) { return set_choice_or_auto(o.trace.live_table, v, kLiveTables, live_table_name); }},
    {"--max-blocks", kRequired, "N", kTracing,
     "most live blocks that can be held, 1 to 67108864\n(default: 67108864 in an arena, 1048576 in a hash "
     "map;\nmemory is taken as it fills)",
     [](Options& o, OptionValue v) { return set_number(o.trace.max_blocks, v, 1, kMaxBlocks); }},
    {"--max-stacks", kRequired, "N", kTracing, "most distinct stacks that can be held, 16 to 1000000\n(default 131072)",
     [](Options& o, OptionValue v) { return set_number(o.trace.max_stacks, v, kMinStacks, kMaxStacks); }},
    {"--max-memory", kRequired, "BYTES", kTracing,
     "upper limit for the kernel's tables: 256M, 2G (default:\nwhat they need; the minimum depends on "
     "--max-stacks\nand "
     "is named if it is not met)",
     [](Options& o, OptionValue v) { return set_size(o.trace.max_memory_bytes, v); }},
    {"--require-exact", kOptional, "WHAT", kTracing,
     "exit with status 5 if anything was missed of WHAT, one\nor more of: numbers (of this process), children "
     "(some\nwere not traced), stacks (some are incomplete), all\n(default: numbers,children)",
     set_required},
    {"--verify", kNone, nullptr, kTracing,
     "at the end, compare the counters with the table of\nlive blocks and report the result",
     turn_on<&Options::verify>},
    {"--ready-fd", kRequired, "N", kOther, "write a line to descriptor N once all probes are in\nplace", set_ready_fd},
    {"-q,--quiet", kNone, nullptr, kOther, "only errors and warnings on stderr", set_verbosity_to<Verbosity::kQuiet>},
    {"-v,--verbose", kNone, nullptr, kOther, "describe progress on stderr", set_verbosity_to<Verbosity::kVerbose>},
    {"--version", kNone, nullptr, kOther, "print the version", nullptr},
    {"-h,--help", kNone, nullptr, kOther, "print this help", nullptr},
};

constexpr Example kExamples[] = {
    {"sudo hawktrace -p 1234", "watch; q or Ctrl-C reports"},
    {"sudo hawktrace -p 1234 --sort allocated", "who allocates most, freed or not"},
    {"sudo hawktrace -p \"$(pidof redis-server)\" --duration 10 --top 20", "one report after 10 seconds"},
    {"sudo hawktrace -p 1234 --duration 1m --format json -o heap.json", "the same, for programs"},
    {"sudo hawktrace -- ./server --port 8080", "from its first instruction on"},
};

constexpr ExitRow kExits[] = {
    {"0", "success"},
    {"2", "malformed command line"},
    {"3", "no such process, or it ended before the trace began"},
    {"4", "missing privilege, or the kernel lacks something"},
    {"5", "finished, but something was missed (only with --require-exact)"},
    {"6", "a file could not be read or written"},
    {"70", "a bug of hawktrace"},
};

constexpr ExitRow kCommandExits[] = {
    {"125", "hawktrace itself failed"},
    {"126", "the command was found, but cannot be executed"},
    {"127", "the command was not found"},
    {"5", "as above"},
    {"other", "the command's, 128 + N if signal N ended it; 0 if it runs on"},
};

}  // namespace

const char* const kTargetGroup = kTarget;

std::span<const OptionRow> option_rows() { return kRows; }

std::string full_name(std::string_view names) { return std::string(names.substr(names.find("--"))); }

std::span<const Example> examples() { return kExamples; }

std::span<const ExitRow> exit_rows() { return kExits; }

std::span<const ExitRow> command_exit_rows() { return kCommandExits; }

}  // namespace hawk
