// The command line. CLI11 knows the grammar (-p1, -p 1, --pid=1, -qv) and lays out the help; what a value means, and
// every message, is ours: CLI11's are several lines long and name no remedy. So CLI11 hands each option over as plain
// text, and the function in its row of kValueOptions converts it after the parse.
#include "userspace/app/options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "userspace/app/folded_functions.h"
#include "userspace/app/option_values.h"

namespace hawk {
namespace {

constexpr std::chrono::nanoseconds kMinDuration = std::chrono::milliseconds(1);
constexpr std::chrono::nanoseconds kMinInterval = std::chrono::milliseconds(100);
constexpr std::uint64_t kMaxTop = 1048576;  // as many as there can be stacks
constexpr std::uint64_t kMaxStackDepth = 256;
constexpr std::uint64_t kMaxBlocks = 67108864;
constexpr std::uint64_t kMinStacks = 16;
constexpr std::uint64_t kMaxStacks = 1000000;  // numbers have 20 bits

// In the order of the enumerators.
constexpr std::array<std::string_view, 2> kFormats{"text", "json"};
constexpr std::array<std::string_view, 4> kAttachWays{"auto", "session", "multi", "perf"};
constexpr std::array<std::string_view, 3> kUnwinders{"auto", "cfi", "fp"};
constexpr std::array<std::string_view, 3> kLiveTables{"auto", "arena", "hash"};
constexpr std::array<std::string_view, 3> kColors{"auto", "always", "never"};

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

Result<void> set_sort(Options& options, OptionValue value) {
  const std::array<std::string_view, 5> names{
      sort_key_name(SortKey::kLive), sort_key_name(SortKey::kLiveCount), sort_key_name(SortKey::kAllocated),
      sort_key_name(SortKey::kAllocatedCount), sort_key_name(SortKey::kFreedCount)};
  return set_choice(options.sort, value, names);
}

Result<void> set_min_size(Options& options, OptionValue value) {
  options.min_size_bytes = HAWK_TRY(parse_size_bytes(value));
  return {};
}

Result<void> set_min_block(Options& options, OptionValue value) {
  options.min_block_bytes = HAWK_TRY(parse_size_bytes(value));
  return {};
}

Result<void> set_max_memory(Options& options, OptionValue value) {
  options.max_memory_bytes = HAWK_TRY(parse_size_bytes(value));
  return {};
}

Result<void> set_pid(Options& options, OptionValue value) {
  options.pid = HAWK_TRY(parse_pid(value, ::getpid()));
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

constexpr const char* kTargetGroup = "What to trace (one of the two)";
constexpr const char* kTimeGroup = "How long";
constexpr const char* kReportGroup = "Report";
constexpr const char* kTracingGroup = "Tracing";
constexpr const char* kOtherGroup = "Other";

/// An option with a value.
struct ValueOption {
  const char* names;  ///< as CLI11 takes them: "-p,--pid"
  const char* value_name;
  const char* group;
  const char* help;
  Result<void> (*set)(Options& options, OptionValue value);
};

/// In the order of the help text.
constexpr ValueOption kValueOptions[] = {
    {"-p,--pid", "PID", kTargetGroup, "the running process; it is never stopped", set_pid},
    {"--duration", "TIME", kTimeGroup,
     "stop after that long: 500ms, 10s (or 10), 2m, 1h\n(default: until Ctrl-C, or until the target ends)",
     [](Options& o, OptionValue v) { return set_time_span(o.duration, v, kMinDuration); }},
    {"--interval", "TIME", kTimeGroup,
     "how often the numbers are read and the screen is drawn,\n100ms or more (default 1s)",
     [](Options& o, OptionValue v) { return set_time_span(o.interval, v, kMinInterval); }},
    {"--format", "FORMAT", kReportGroup, "text or json (default text)",
     [](Options& o, OptionValue v) { return set_choice(o.format, v, kFormats); }},
    {"-o,--output", "FILE", kReportGroup, "write the report to FILE, whole or not at all", set_output},
    {"--sort", "KEY", kReportGroup,
     "live, live-count, allocated, allocated-count or\nfreed-count (default live: bytes not freed)", set_sort},
    {"--top", "N", kReportGroup, "show the first N stacks, 0 for all\n(default: 10 as text, all as json)",
     [](Options& o, OptionValue v) { return set_number(o.top, v, 0, kMaxTop); }},
    {"--min-size", "BYTES", kReportGroup, "leave out stacks with less than that: 4096, 4k, 1MiB", set_min_size},
    {"--hide", "REGEX", kReportGroup,
     "also fold functions whose name, as the report shows it,\nmatches: an application's own wrappers of malloc "
     "that\nare "
     "not known (extended regular expression)",
     set_hide},
    {"--color", "WHEN", kReportGroup, "auto, always or never (default auto, which honours\nNO_COLOR)",
     [](Options& o, OptionValue v) { return set_choice(o.color, v, kColors); }},
    {"--min-block", "BYTES", kTracingGroup, "do not follow smaller blocks: such a call costs the\ntarget about half",
     set_min_block},
    {"--stack-depth", "N", kTracingGroup, "frames kept of a stack, 1 to 256 (default 256)",
     [](Options& o, OptionValue v) { return set_number(o.stack_depth, v, 1, kMaxStackDepth); }},
    {"--attach-via", "WAY", kTracingGroup,
     "how probes are attached: auto, session (Linux 6.13),\nmulti (6.6) or perf (default auto: the fastest there is)",
     [](Options& o, OptionValue v) { return set_choice(o.attach_via, v, kAttachWays); }},
    {"--unwind", "HOW", kTracingGroup,
     "how stacks are walked: cfi, by unwind tables; fp, along\nframe pointers; auto (default), along frame "
     "pointers\nonly where there is no table",
     [](Options& o, OptionValue v) { return set_choice(o.unwind, v, kUnwinders); }},
    {"--live-table", "KIND", kTracingGroup,
     "where the kernel keeps live blocks: auto, arena (Linux\n6.10) or hash (default auto: the arena if there is one)",
     [](Options& o, OptionValue v) { return set_choice(o.live_table, v, kLiveTables); }},
    {"--max-blocks", "N", kTracingGroup,
     "live blocks that can be held, 1 to 67108864 (default:\n67108864 in an arena, 1048576 in a hash map; "
     "either\ntakes "
     "memory as it fills)",
     [](Options& o, OptionValue v) { return set_number(o.max_blocks, v, 1, kMaxBlocks); }},
    {"--max-stacks", "N", kTracingGroup, "distinct stacks that can be held, 16 to 1000000\n(default 131072)",
     [](Options& o, OptionValue v) { return set_number(o.max_stacks, v, kMinStacks, kMaxStacks); }},
    {"--max-memory", "BYTES", kTracingGroup,
     "that the kernel's tables may grow to: 256M, 2G (default:\nwhat they need)", set_max_memory},
    {"--ready-fd", "N", kOtherGroup, "write a line to descriptor N once all probes are in\nplace", set_ready_fd},
};

/// An option without a value.
struct FlagOption {
  const char* names;
  const char* group;
  const char* help;
  void (*set)(Options& options);
};

constexpr FlagOption kFlagOptions[] = {
    {"--full-stacks", kReportGroup,
     "fold, shorten and leave out nothing: every frame of\nevery stack, with its whole name, address, file and\nmodule",
     [](Options& o) { o.full_stacks = true; }},
    {"--bytes", kReportGroup, "plain numbers of bytes, not KiB and MiB", [](Options& o) { o.raw_bytes = true; }},
    {"--require-exact", kTracingGroup, "end with 5 when anything was missed",
     [](Options& o) { o.require_exact = true; }},
    {"--verify", kTracingGroup,
     "when done, compare the counters with the table of live\nblocks, and report the outcome",
     [](Options& o) { o.verify = true; }},
    {"-q,--quiet", kOtherGroup, "only errors and warnings on stderr",
     [](Options& o) { o.verbosity = Verbosity::kQuiet; }},
    {"-v,--verbose", kOtherGroup, "tell on stderr what is done", [](Options& o) { o.verbosity = Verbosity::kVerbose; }},
};

constexpr const char* kExamplesAndExitCodes =
    R"(Examples:
  sudo hawktrace -p 1234                      watch; q or Ctrl-C reports
  sudo hawktrace -p 1234 --sort allocated     who allocates most, freed or not
  sudo hawktrace -p $(pidof redis-server) --duration 10 --top 20
  sudo hawktrace -p 1234 --duration 1m --format json -o heap.json
  sudo hawktrace -- ./server --port 8080      from its first instruction on

Exit codes:
  0  fine
  2  malformed command line
  3  no such process, or it was gone before the trace began
  4  no privilege, or the kernel lacks something
  5  finished, but something was missed (only with --require-exact)
  6  a file could not be read or written
  With -- COMMAND, where none of these applies, the command's own.)";

/// CLI11's layout with our usage lines.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(24); }
  std::string make_usage(const CLI::App*, std::string) const override {
    return "\nUsage:\n"
           "  hawktrace [OPTIONS] -p PID\n"
           "  hawktrace [OPTIONS] -- COMMAND [ARGS...]\n\n";
  }
  /// Without the second empty line between groups; and with the row of what is no option to CLI11.
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    std::string text = CLI::Formatter::make_group(group, is_positional, std::move(options)).substr(1);
    if (group == kTargetGroup) {
      text +=
          "  -- COMMAND [ARGS...]  start it, with the probes in place before its first\n"
          "                        instruction\n";
    }
    return text;
  }
};

void add_option_rows(CLI::App& app) {
  for (const ValueOption& row : kValueOptions) {
    CLI::Option* option = app.add_option(row.names);
    // All occurrences are kept so that a second one can be refused in our words.
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    option->type_name(row.value_name)->group(row.group)->description(row.help);
  }
  for (const FlagOption& row : kFlagOptions) {
    app.add_flag(row.names)->disable_flag_override()->group(row.group)->description(row.help);
  }
}

void set_up_parser(CLI::App& app) {
  app.name("hawktrace");
  app.description("Shows exactly which call stacks of a process hold how many live heap bytes.");
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(kExamplesAndExitCodes);
  app.allow_extras();
  // Groups are printed in the order in which their first option was added: --help, which a new App has, comes last.
  app.set_help_flag();
  add_option_rows(app);
  app.set_version_flag("--version", "hawktrace " HAWKTRACE_VERSION, "print the version")->group(kOtherGroup);
  app.set_help_flag("-h,--help", "print this help")->group(kOtherGroup);
}

/// The one spelling of an option that all messages use: "--pid" of "-p,--pid".
std::string full_name(std::string_view names) { return std::string(names.substr(names.find("--"))); }
std::string full_name(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

tl::unexpected<Error> usage_error(std::string what, std::string hint = "hawktrace --help lists all options") {
  return fail(ExitCode::kUsage, std::move(what), std::move(hint));
}

/// CLI11 says only in its message which option an error is about: it is the word that the message begins with.
tl::unexpected<Error> translate_mismatch(const CLI::App& app, const CLI::ArgumentMismatch& mismatch) {
  std::string name = mismatch.what();
  name.resize(std::min(name.find_first_of(": "), name.size()));
  if (!name.starts_with('-')) name.insert(0, "--");
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return usage_error(mismatch.what());
  if (option->get_expected_max() == 0) return usage_error(fmt::format("{}: takes no value", full_name(*option)));
  return usage_error(fmt::format("{}: needs a value", full_name(*option)));
}

/// CLI11 takes the next argument for the value, even if that is an option: "-p --top 5".
bool is_known_option(const CLI::App& app, const std::string& text) {
  return text.starts_with('-') && app.get_option_no_throw(text.substr(0, text.find('='))) != nullptr;
}

Result<void> apply_values(const CLI::App& app, Options& options) {
  for (const ValueOption& row : kValueOptions) {
    const std::string name = full_name(row.names);
    const std::vector<std::string>& texts = app.get_option(name)->results();
    if (texts.empty()) continue;
    if (is_known_option(app, texts.front())) return usage_error(fmt::format("{}: needs a value", name));
    if (texts.size() > 1) {
      return usage_error(fmt::format("{}: '{}' is a second value", name, texts[1]), "give the option only once");
    }
    HAWK_TRY_VOID(row.set(options, {name, texts.front()}));
  }
  return {};
}

Result<void> apply_flags(const CLI::App& app, Options& options) {
  for (const FlagOption& row : kFlagOptions) {
    if (app.get_option(full_name(row.names))->count() > 0) row.set(options);
  }
  if (app.get_option("--quiet")->count() > 0 && app.get_option("--verbose")->count() > 0) {
    return usage_error("--quiet and --verbose exclude each other", "give one of them");
  }
  return {};
}

/// What to say about "--tpo": the option that was probably meant.
std::string unknown_option_hint(const CLI::App& app, std::string_view text) {
  std::vector<std::string_view> names;
  for (const CLI::Option* option : app.get_options({})) names.emplace_back(option->get_lnames().front());
  const std::string_view nearest = nearest_name(text.substr(std::min(text.find_first_not_of('-'), text.size())), names);
  if (nearest.empty()) return "hawktrace --help lists all options";
  return fmt::format("did you mean --{}?", nearest);
}

Result<void> refuse_leftovers(const CLI::App& app, const Options& options) {
  const std::vector<std::string> leftovers = app.remaining();
  if (leftovers.empty()) return {};
  const std::string& first = leftovers.front();
  if (first.starts_with('-')) {
    const std::string option = first.substr(0, first.find('='));
    return usage_error(fmt::format("{}: no such option", option), unknown_option_hint(app, option));
  }
  std::string hint = fmt::format("to start a command: hawktrace -- {}", first);
  const bool is_number = !first.empty() && first.find_first_not_of("0123456789") == std::string::npos;
  if (options.pid && is_number) {
    hint = "one process at a time: give -p a single number";
  } else if (is_number) {
    hint = fmt::format("to attach to that process: hawktrace -p {}", first);
  } else if (options.pid || !options.command.empty() || first.empty()) {
    hint = "hawktrace --help lists all options";
  }
  return usage_error(fmt::format("'{}': unexpected argument", first), std::move(hint));
}

Result<void> check_target(const Options& options, bool has_separator) {
  if (options.pid && has_separator) {
    return usage_error(fmt::format("--pid: '{}' and a command after -- exclude each other", *options.pid),
                       "give either -p PID or -- COMMAND");
  }
  if (has_separator && options.command.empty()) {
    return usage_error("--: no command follows", "hawktrace -- COMMAND [ARGS...]");
  }
  if (!options.pid && !has_separator) {
    return usage_error("nothing to trace: neither -p PID nor -- COMMAND was given",
                       "hawktrace -p PID, or hawktrace -- COMMAND; hawktrace --help explains both");
  }
  return {};
}

}  // namespace

std::string_view unwind_name(UnwindChoice choice) { return kUnwinders[static_cast<std::size_t>(choice)]; }

Selection Options::selection() const {
  constexpr std::size_t kTopForPeople = 10;
  const std::size_t default_top = format == FormatChoice::kText ? kTopForPeople : 0;
  return {.sort = sort, .top = top.value_or(default_top), .min_size_bytes = min_size_bytes};
}

Result<ParsedOptions> parse_options(int argc, const char* const* argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const bool has_separator = separator != arguments.end();
  Options options;
  if (has_separator) options.command.assign(separator + 1, arguments.end());

  CLI::App app;
  set_up_parser(app);
  try {
    std::vector<std::string> reversed(std::make_reverse_iterator(separator), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return InfoText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return InfoText{app.version() + "\n"};
  } catch (const CLI::ArgumentMismatch& mismatch) {
    return translate_mismatch(app, mismatch);
  } catch (const CLI::Error& error) {
    return usage_error(fmt::format("command line: {}", error.what()));
  }
  HAWK_TRY_VOID(apply_values(app, options));
  HAWK_TRY_VOID(apply_flags(app, options));
  HAWK_TRY_VOID(refuse_leftovers(app, options));
  HAWK_TRY_VOID(check_target(options, has_separator));
  return options;
}

bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!is_terminal || (no_color != nullptr && *no_color != '\0')) return false;
  return term != nullptr && std::string_view(term) != "dumb";
}

}  // namespace hawk
