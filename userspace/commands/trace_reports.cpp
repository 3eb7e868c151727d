#include "userspace/commands/trace_reports.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "userspace/commands/folded_functions.h"
#include "userspace/commands/symbol_progress.h"
#include "userspace/base/write_all.h"
#include "userspace/export/json_report.h"
#include "userspace/export/text_report.h"

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

TextOptions text_options(const Options& options, const ReportOutput& output) {
  TextOptions text;
  text.selection = options.selection();
  text.role_of = folded_functions(options.hide);
  text.full_stacks = options.full_stacks;
  text.raw_bytes = options.raw_bytes;
  text.color = use_color(options.color, output.is_terminal(), std::getenv("NO_COLOR"), std::getenv("TERM"));
  // Anything else than a terminal takes lines of any length.
  const winsize terminal = output.is_terminal() ? terminal_size(STDOUT_FILENO) : winsize{};
  text.width = terminal.ws_col;
  text.rows = terminal.ws_row;
  return text;
}

/// Makes the report, of several the one behind `previous`.
ReportProducer producer_of(const Snapshot& snapshot, const Snapshot* previous, ProgressSymbolizer& progress,
                           const Options& options, const ReportOutput& output) {
  const PlaceCountObserver observer = [&progress](std::size_t count) { progress.expect(count); };
  if (options.format == FormatChoice::kText) {
    TextOptions text = text_options(options, output);
    text.before_symbolizing = observer;
    text.previous = previous;
    if (options.report_every) text.rows = 0;  // the next report has a summary too
    const bool is_next = previous != nullptr;
    return [&snapshot, &progress, text, is_next](const TextSink& sink) {
      if (!is_next || sink("\n")) write_text(snapshot, progress, text, sink);
    };
  }
  JsonOptions json;
  json.selection = options.selection();
  json.role_of = folded_functions(options.hide);
  json.before_symbolizing = observer;
  json.previous = previous;
  json.one_line = options.report_every.has_value();
  return [&snapshot, &progress, json](const TextSink& sink) { write_json(snapshot, progress, json, sink); };
}

ProgressOutlet progress_outlet(const Options& options) {
  return options.verbosity == Verbosity::kQuiet ? ProgressOutlet{} : to_stderr();
}

}  // namespace

Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const Options& options,
                          ReportOutput& output) {
  ProgressSymbolizer progress(symbolizer, progress_outlet(options));
  return output.write(producer_of(snapshot, nullptr, progress, options, output));
}

Result<bool> write_next_report(const Snapshot& snapshot, const Snapshot* previous, Symbolizer& symbolizer,
                               const Options& options, ReportOutput& output) {
  ProgressSymbolizer progress(symbolizer, progress_outlet(options));
  return output.write_next(producer_of(snapshot, previous, progress, options, output));
}

}  // namespace hawk
