// The default command of hawktrace: it traces a process and reports.
#include "userspace/commands/trace.h"

#include <fmt/core.h>

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
#include "userspace/commands/traced_heap.h"
#include "userspace/export/report_output.h"

namespace hawk {
namespace {

/// The reports of all that is traced: one at the end, and before that one for each dump; or the live screen, and one
/// at the end.
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

  Result<void> open_for(const Traces& traces) override {
    heap_.emplace(traces);
    return {};
  }

  /// The terminal is restored before the report is made.
  Result<bool> watch(TracedProcesses& traced, SignalSource& signals, SignalRelay* relay) override {
    std::optional<LiveScreen> screen;
    if (live_) screen.emplace(HAWK_TRY(make_live_screen(options_)));
    TraceWatchers watchers;
    if (screen) watchers.screen = &*screen;
    watchers.report_every = options_.report_every;
    watchers.dump = [this](DumpCause cause) { return dump(cause); };
    return run_trace_loop(traced, *heap_, options_, signals, relay, watchers);
  }

  Result<void> finish(const Traces& /*traces*/, const std::vector<Snapshot>& last) override {
    if (!wanted_) return {};
    const bool is_one_of_several = options_.wants_several() || previous_;
    heap_->note_drain(options_.keeps_peak);
    std::optional<Snapshot> made;
    if (options_.report.at_peak || last.size() != 1) {
      made = HAWK_TRY(options_.report.at_peak ? heap_->at_peak() : heap_->sum_of(last));
    }
    const Snapshot& sum = made ? *made : last.front();
    forget_other_numbers(sum);
    return write_final_report(sum, heap_->symbolizer(), options_.report, options_.verbosity, *output_,
                              is_one_of_several, previous_ ? &*previous_ : nullptr);
  }

 private:
  /// Writes one of several. False: the pipe is closed.
  Result<bool> dump(DumpCause cause) {
    if (live_) return true;  // the terminal belongs to the screen, which shows it
    if (!options_.report.format->can_follow) {
      log_warning(fmt::format("SIGUSR1: a file in the format {} holds a single report, the one at the end",
                              options_.report.format->name));
      return true;
    }
    Snapshot now = HAWK_TRY(options_.report.at_peak ? heap_->at_peak() : heap_->snapshot());
    forget_other_numbers(now);
    now.trace.dump_cause = cause;
    wanted_ = HAWK_TRY(write_next_report(now, previous_ ? &*previous_ : nullptr, heap_->symbolizer(), options_.report,
                                         options_.verbosity, *output_));
    previous_ = std::move(now);
    return wanted_;
  }

  /// In a sum of processes stacks have other numbers than in the one that was alone before.
  void forget_other_numbers(const Snapshot& now) {
    if (previous_ && previous_->targets.size() == 1 && now.targets.size() > 1) previous_.reset();
  }

  const Options& options_;
  std::optional<ReportOutput> output_;
  bool live_ = false;
  std::optional<TracedHeap> heap_;
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
