#include "userspace/commands/trace_reports.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "symbolizer/frame_role.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/symbol_progress.h"
#include "userspace/export/format.h"

namespace hawk {
namespace {

/// The size of the terminal that `fd` is; zeros when it is none or does not say.
winsize terminal_size(int fd) {
  winsize size = {};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

ProgressOutlet to_stderr() {
  ProgressOutlet outlet;
  outlet.is_terminal = ::isatty(STDERR_FILENO) == 1;
  outlet.columns = outlet.is_terminal ? terminal_size(STDERR_FILENO).ws_col : 0;
  outlet.now = [] { return std::chrono::steady_clock::now(); };
  outlet.put = [](std::string_view text) { write_all(STDERR_FILENO, text); };
  return outlet;
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
  return [request, write = options.format->write](const TextSink& sink) { write(request, sink); };
}

ProgressOutlet progress_outlet(Verbosity verbosity) {
  return verbosity == Verbosity::kQuiet ? ProgressOutlet{} : to_stderr();
}

}  // namespace

Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const ReportOptions& options,
                          Verbosity verbosity, ReportOutput& output, const HeapSeries* series) {
  ProgressSymbolizer progress(symbolizer, progress_outlet(verbosity));
  return output.write(producer_of(snapshot, nullptr, progress, options, false, output, series));
}

Result<bool> write_next_report(const Snapshot& snapshot, const Snapshot* previous, Symbolizer& symbolizer,
                               const ReportOptions& options, Verbosity verbosity, ReportOutput& output) {
  ProgressSymbolizer progress(symbolizer, progress_outlet(verbosity));
  return output.write_next(producer_of(snapshot, previous, progress, options, true, output));
}

}  // namespace hawk
