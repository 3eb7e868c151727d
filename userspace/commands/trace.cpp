// What hawktrace does where no other command is named: it traces one process, and reports.
#include "userspace/commands/trace.h"

#include <fmt/core.h>

#include <optional>
#include <utility>
#include <variant>

#include "userspace/base/log.h"
#include "userspace/commands/command.h"
#include "userspace/commands/final_report.h"
#include "userspace/commands/live_screen_choice.h"
#include "userspace/commands/options.h"
#include "userspace/commands/run_trace.h"
#include "userspace/commands/trace_loop.h"
#include "userspace/commands/trace_reports.h"
#include "userspace/export/report_output.h"

namespace hawk {
namespace {

/// The reports of one trace: one at the end, and before that one for each dump; or the live screen, and one at the end.
class Reports : public TraceUse {
 public:
  explicit Reports(const Options& options) : options_(options) {}

  Result<void> open() override {
    output_.emplace(HAWK_TRY(options_.report.open_output()));
    live_ = wants_live_screen(options_, output_->is_terminal());
    return {};
  }

  bool wants_notice() const override { return !live_; }

  bool wants_names() const override { return wanted_; }

  /// The screen is given back before the report is made.
  Result<bool> watch(ProcessTrace& trace, SignalSource& signals, SignalRelay* relay) override {
    std::optional<LiveScreen> screen;
    if (live_) screen.emplace(HAWK_TRY(make_live_screen(options_)));
    TraceWatchers watchers;
    if (screen) watchers.screen = &*screen;
    watchers.report_every = options_.report_every;
    watchers.dump = [this, &trace](DumpCause cause) { return dump(trace, cause); };
    return run_trace_loop(trace, options_, signals, relay, watchers);
  }

  Result<void> finish(ProcessTrace& trace, const Snapshot& last) override {
    if (!wanted_) return {};
    return write_final_report(last, trace.symbolizer(), options_.report, options_.verbosity, *output_,
                              options_.wants_several() || previous_, previous_ ? &*previous_ : nullptr);
  }

 private:
  /// Writes one of several. False: the reader is gone.
  Result<bool> dump(ProcessTrace& trace, DumpCause cause) {
    if (live_) return true;  // the terminal is the screen's, and shows it
    if (!options_.report.format->can_follow) {
      log_warning(fmt::format("SIGUSR1: a file of the format {} holds a single report, that at the end",
                              options_.report.format->name));
      return true;
    }
    Snapshot now = trace.snapshot();
    now.trace.dump_cause = cause;
    wanted_ = HAWK_TRY(write_next_report(now, previous_ ? &*previous_ : nullptr, trace.symbolizer(), options_.report,
                                         options_.verbosity, *output_));
    previous_ = std::move(now);
    return wanted_;
  }

  const Options& options_;
  std::optional<ReportOutput> output_;
  bool live_ = false;
  std::optional<Snapshot> previous_;
  bool wanted_ = true;
};

}  // namespace

Result<int> trace_command(int argc, const char* const* argv) {
  const ParsedOptions parsed = HAWK_TRY(parse_options(argc, argv));
  if (const InfoText* info = std::get_if<InfoText>(&parsed)) return print_info(info->text);
  const Options& options = std::get<Options>(parsed);
  set_verbosity(options.verbosity);
  Reports reports(options);
  return run_trace(options, reports);
}

}  // namespace hawk
