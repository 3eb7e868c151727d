// What hawktrace does where no other command is named: it traces, and reports.
#include "userspace/commands/trace.h"

#include <fmt/core.h>

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

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

/// The reports of each trace: one at the end, and before that one for each dump; or the live screen, and one at the
/// end.
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

  /// There are several reports then, one behind the other. The screen shows one process.
  Result<void> open_for(const Traces& traces) override {
    if (traces.size() == 1) return {};
    live_ = false;
    if (options_.report.format->can_follow) return {};
    return fail(ExitCode::kUsage,
                fmt::format("--format {}: a file holds one process, and {} are traced", options_.report.format->name,
                            traces.size()),
                "hawktrace record keeps them in one file, from which hawktrace export --target takes each");
  }

  /// The screen is given back before the report is made.
  Result<bool> watch(const Traces& traces, SignalSource& signals, SignalRelay* relay) override {
    std::optional<LiveScreen> screen;
    if (live_) screen.emplace(HAWK_TRY(make_live_screen(options_)));
    TraceWatchers watchers;
    if (screen) watchers.screen = &*screen;
    watchers.report_every = options_.report_every;
    watchers.dump = [this](ProcessTrace& trace, DumpCause cause) { return dump(trace, cause); };
    return run_trace_loop(traces, options_, signals, relay, watchers);
  }

  Result<void> finish(const Traces& traces, const std::vector<Snapshot>& last) override {
    const bool are_several = options_.wants_several() || !previous_.empty() || traces.size() > 1;
    for (std::size_t i = 0; i < traces.size() && wanted_; ++i) {
      const auto before = previous_.find(traces[i].get());
      HAWK_TRY_VOID(write_final_report(last[i], traces[i]->symbolizer(), options_.report, options_.verbosity, *output_,
                                       are_several, before == previous_.end() ? nullptr : &before->second));
    }
    return {};
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
    const auto before = previous_.find(&trace);
    wanted_ = HAWK_TRY(write_next_report(now, before == previous_.end() ? nullptr : &before->second, trace.symbolizer(),
                                         options_.report, options_.verbosity, *output_));
    previous_.insert_or_assign(&trace, std::move(now));
    return wanted_;
  }

  const Options& options_;
  std::optional<ReportOutput> output_;
  bool live_ = false;
  std::map<const ProcessTrace*, Snapshot> previous_;
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
