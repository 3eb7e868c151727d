#include "userspace/commands/trace_reports.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <utility>

#include "symbolizer/frame_role.h"
#include "userspace/commands/report_progress.h"
#include "userspace/commands/symbol_progress.h"
#include "userspace/export/format.h"
#include "userspace/views/age_view.h"

namespace hawk {
namespace {

/// The size of the terminal that `fd` is; zeros when it is none or does not say.
winsize terminal_size(int fd) {
  winsize size = {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

/// What the report is of, if not of the whole: nullopt then.
Result<std::optional<Snapshot>> narrow(const Snapshot& snapshot, const ReportOptions& options) {
  const AgeWindow& window = options.ages;
  std::optional<Snapshot> narrowed;
  if (options.by_thread() && !snapshot.threads) {
    return fail(ExitCode::kUsage, "--by thread: which thread has allocated what is not known at this time",
                "record with --by thread; a recording has it at its end, and at its dumps");
  }
  if (options.histograms && !snapshot.lives) {
    return fail(ExitCode::kUsage, "--histograms: sizes and lifetimes of blocks are not known at this time",
                "record with --histograms; a recording has them at its end, and at its dumps");
  }
  if (window.is_empty()) return narrowed;
  if (!snapshot.ages) {
    return fail(
        ExitCode::kUsage,
        fmt::format("only live blocks {}: the ages of blocks are not known at this time", age_window_text(window)),
        "a recording has them at its end, and at its dumps: hawktrace report --dumps lists these");
  }
  narrowed = narrowed_to_ages(snapshot, window);
  return narrowed;
}

/// Makes the report, of several the one behind `previous`.
ReportProducer producer_of(const Snapshot& snapshot, const Snapshot* previous, ProgressSymbolizer& progress,
                           const ReportOptions& options, bool is_one_of_several, const ReportOutput& output,
                           const HeapSeries* series = nullptr) {
  // Anything else than a terminal takes lines of any length.
  const winsize terminal = output.is_terminal() ? terminal_size(STDOUT_FILENO) : winsize{};
  const ReportRequest request = {
      .snapshot = snapshot,
      .symbolizer = progress,
      .series = series,
      .previous = previous,
      .is_one_of_several = is_one_of_several,
      .selection = options.selection(),
      .filter = options.filter,
      .grouping = options.grouping,
      .role_of = frame_role,
      .before_symbolizing = [&progress](std::size_t count) { progress.expect(count); },
      .full_stacks = options.full_stacks,
      .raw_bytes = options.raw_bytes,
      .color = use_color(options.color, output.is_terminal(), std::getenv("NO_COLOR"), std::getenv("TERM")),
      .width = terminal.ws_col,
      .rows = terminal.ws_row,
  };
  ReportProducer produce = [request, write = options.format->write](const TextSink& sink) { write(request, sink); };
  // On the terminal that the report goes to, the report itself shows how far it has come.
  return output.is_terminal() ? produce : with_progress(std::move(produce), progress.line());
}

}  // namespace

Result<void> write_report(const Snapshot& whole, Symbolizer& symbolizer, const ReportOptions& options,
                          Verbosity verbosity, ReportOutput& output, const HeapSeries* series) {
  const std::optional<Snapshot> narrowed = HAWK_TRY(narrow(whole, options));
  const Snapshot& snapshot = narrowed ? *narrowed : whole;
  if (narrowed) series = nullptr;
  ProgressLine line(progress_on_stderr(verbosity));
  ProgressSymbolizer progress(symbolizer, line);
  return output.write(producer_of(snapshot, nullptr, progress, options, false, output, series));
}

Result<bool> write_next_report(const Snapshot& whole, const Snapshot* previous, Symbolizer& symbolizer,
                               const ReportOptions& options, Verbosity verbosity, ReportOutput& output) {
  const std::optional<Snapshot> narrowed = HAWK_TRY(narrow(whole, options));
  const Snapshot& snapshot = narrowed ? *narrowed : whole;
  if (narrowed) previous = nullptr;  // blocks leave it too
  ProgressLine line(progress_on_stderr(verbosity));
  ProgressSymbolizer progress(symbolizer, line);
  return output.write_next(producer_of(snapshot, previous, progress, options, true, output));
}

}  // namespace hawk
