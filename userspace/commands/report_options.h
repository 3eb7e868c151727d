#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "userspace/commands/command_line.h"
#include "userspace/export/format.h"
#include "userspace/export/report_output.h"
#include "userspace/tables/live_ages.h"
#include "userspace/tables/selection.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// --color.
enum class ColorChoice { kAuto, kAlways, kNever };

/// How many stacks a report for people shows without --top.
inline constexpr std::size_t kTopForPeople = 10;

/// What the user asked for of a report, whether its numbers are live or recorded.
struct ReportOptions {
  const Format* format = &formats().front();
  std::optional<std::string> output_path;  ///< nullopt: stdout
  SortKey sort = SortKey::kLive;
  std::optional<std::size_t> top;  ///< as given; 0: all. See selection().
  std::uint64_t min_size_bytes = 0;
  FrameFilter filter;
  Grouping grouping;
  AgeWindow ages;        ///< which live blocks the report is of
  bool at_peak = false;  ///< of the state at the peak
  bool histograms = false;
  bool full_stacks = false;
  bool raw_bytes = false;  ///< --bytes
  ColorChoice color = ColorChoice::kAuto;

  /// Which stacks the report shows. Without --top that is ten for people and all for programs (JSON).
  Selection selection() const;
  /// Whether it says anything of the lives of blocks.
  bool wants_lives() const { return !ages.is_empty() || format->has_ages || histograms || by_thread(); }
  bool by_thread() const { return grouping.by == GroupKind::kThread; }
  /// Where the report goes. Fails with kUsage if that is a terminal and the format is no text, or if the format cannot
  /// hold what is asked for.
  Result<ReportOutput> open_output() const;
};

/// The heading below which they are explained.
inline constexpr const char* kReportGroup = "Report";

/// The rows that set `options`; all of them refer to it. `format_option`: "--format" or what stands for it.
/// `output_option`: "-o,--output", with its help, or what stands for it.
struct ReportRowNames {
  const char* format_option = "--format";
  const char* output_option = "-o,--output";
  const char* output_help = "write the report to FILE, completely or not at all";
};
void add_report_rows(OptionRows& rows, ReportOptions& options, const ReportRowNames& names = {});

/// As set by --sort, and the most that --top takes.
Result<void> set_sort(SortKey& sort, OptionValue value);
inline constexpr std::uint64_t kMaxTop = 1048576;  // as many as there can be stacks

/// Reads the value of an option that names a file to write. `without`: what is so where the option is left out.
Result<std::string> parse_file_name(OptionValue value, const char* without);

/// Refuses what is known of the state at the end only, of another one, and what is not known together.
Result<void> check_moment(const ReportOptions& options);

/// Whether to colour what goes to a destination. --color decides; left to auto, a terminal gets colours unless the
/// environment's NO_COLOR is set and not empty (https://no-color.org) or TERM says it can show none.
/// The two are nullptr where not set.
bool use_color(ColorChoice choice, bool is_terminal, const char* no_color, const char* term);

}  // namespace hawk
