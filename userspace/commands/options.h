#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/attach/trace_config.h"
#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/export/format.h"
#include "userspace/tables/selection.h"

namespace hawk {

/// --color.
enum class ColorChoice { kAuto, kAlways, kNever };

/// --require-exact: what must not be missing, for an exit status of 0.
struct Required {
  bool numbers = false;   ///< of the traced process
  bool children = false;  ///< there must be no process that it started and that was not traced
  bool stacks = false;    ///< all complete
};

/// How many stacks a report for people shows without --top.
inline constexpr std::size_t kTopForPeople = 10;

/// What the user asked for on the command line.
struct Options {
  TraceConfig trace;                                     ///< what to trace (-p, or what follows --), and how
  std::optional<std::chrono::nanoseconds> duration;      ///< nullopt: until the target ends or a signal comes
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: one report, at the end

  const Format* format = &formats().front();
  std::optional<std::string> output_path;  ///< nullopt: stdout
  SortKey sort = SortKey::kLive;
  std::optional<std::size_t> top;  ///< as given; 0: all. See selection().
  std::uint64_t min_size_bytes = 0;
  std::optional<std::string> hide;  ///< a valid pattern; see folded_functions()
  bool full_stacks = false;
  bool raw_bytes = false;  ///< --bytes
  ColorChoice color = ColorChoice::kAuto;

  Required required;
  bool verify = false;
  bool kill_command = false;    ///< --kill: the command does not outlive the trace
  std::optional<int> ready_fd;  ///< an open descriptor, told when all probes are in place
  Verbosity verbosity = Verbosity::kNormal;

  /// Whether a command is started, so that hawktrace's own failures have exit statuses apart from the command's.
  bool starts_command() const { return !trace.command.empty(); }
  /// Which stacks the report shows. Without --top that is ten for people and all for programs (JSON).
  Selection selection() const;
};

/// The answer to --help or --version: to be printed to stdout, after which hawktrace ends with kOk.
struct InfoText {
  std::string text;
};

using ParsedOptions = std::variant<Options, InfoText>;

/// Reads the command line. Every error is kUsage, one line that names the option and the value, with a hint.
/// Changes nothing outside: the caller applies `verbosity`.
Result<ParsedOptions> parse_options(int argc, const char* const* argv);

/// Whether to colour what goes to a destination. --color decides; left to auto, a terminal gets colours unless the
/// environment's NO_COLOR is set and not empty (https://no-color.org) or TERM says it can show none.
/// The two are nullptr where not set.
bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term);

}  // namespace hawk
