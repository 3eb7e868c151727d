#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/tables/selection.h"

namespace hawk {

/// --format.
enum class FormatChoice { kText, kJson };
/// --attach-via: how probes are attached. kAuto leaves it to what the kernel offers.
enum class AttachChoice { kAuto, kSession, kMulti, kPerf };
/// --unwind: how stacks are walked.
enum class UnwindChoice { kAuto, kCfi, kFramePointers };
/// As it is spelled on the command line.
std::string_view unwind_name(UnwindChoice choice);
/// --live-table: where the kernel keeps live blocks.
enum class LiveTableChoice { kAuto, kArena, kHash };
/// --color.
enum class ColorChoice { kAuto, kAlways, kNever };

/// --require-exact: what must not be missing, for an exit status of 0.
struct Required {
  bool numbers = false;   ///< of the traced process
  bool children = false;  ///< there must be no process that it started and that was not traced
  bool stacks = false;    ///< all complete
};

/// What the user asked for on the command line. Either `pid` is set or `command` is not empty, never both.
struct Options {
  std::optional<int> pid;                            ///< -p
  std::vector<std::string> command;                  ///< what follows --, program first
  std::optional<std::chrono::nanoseconds> duration;  ///< nullopt: until the target ends or a signal comes
  std::chrono::nanoseconds interval = std::chrono::seconds(1);
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: one report, at the end

  FormatChoice format = FormatChoice::kText;
  std::optional<std::string> output_path;  ///< nullopt: stdout
  SortKey sort = SortKey::kLive;
  std::optional<std::size_t> top;  ///< as given; 0: all. See selection().
  std::uint64_t min_size_bytes = 0;
  std::uint64_t min_block_bytes = 0;
  std::optional<std::string> hide;  ///< a valid pattern; see folded_functions()
  bool full_stacks = false;
  bool raw_bytes = false;  ///< --bytes
  ColorChoice color = ColorChoice::kAuto;

  AttachChoice attach_via = AttachChoice::kAuto;
  UnwindChoice unwind = UnwindChoice::kAuto;
  LiveTableChoice live_table = LiveTableChoice::kAuto;
  std::uint32_t stack_depth = 256;                ///< frames per stack, 1 to 256
  std::optional<std::uint32_t> max_blocks;        ///< live blocks the table can hold; nullopt: it depends on the table
  std::optional<std::uint64_t> max_memory_bytes;  ///< of the kernel's tables; nullopt: as much as they need
  std::uint32_t max_stacks = 1U << 17;            ///< distinct stacks the table can hold

  Required required;
  bool verify = false;
  bool kill_command = false;    ///< --kill: the command does not outlive the trace
  std::optional<int> ready_fd;  ///< an open descriptor, told when all probes are in place
  Verbosity verbosity = Verbosity::kNormal;

  /// Whether a command is started, so that hawktrace's own failures have exit statuses apart from the command's.
  bool starts_command() const { return !command.empty(); }
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
