#include "userspace/commands/trace_loop.h"

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <optional>

#include "userspace/base/event_loop.h"
#include "userspace/base/log.h"

namespace hawk {
namespace {

class TraceLoop {
 public:
  TraceLoop(ProcessTrace& trace, const TraceOptions& options, SignalSource& signals, SignalRelay* relay,
            const TraceWatchers& watchers)
      : trace_(trace),
        options_(options),
        signals_(signals),
        relay_(relay),
        screen_(watchers.screen),
        watchers_(watchers),
        triggers_(options.dumps) {}

  Result<bool> run() {
    watch_process();
    watch_user();
    HAWK_TRY_VOID(watch_time());
    // The last: what came before the end is taken first.
    loop_.watch(trace_.pid_fd(), [this](short) { return target_ended(); });
    show();
    HAWK_TRY_VOID(loop_.run());
    return ended_by_user_;
  }

 private:
  void watch_process() {
    loop_.watch(trace_.wakeup_fd(), [this](short) -> Result<void> {
      trace_.adjust_memory();
      return {};
    });
    loop_.watch(trace_.mapping_fd(), [this](short) -> Result<void> {
      trace_.take_mapping_events();
      return {};
    });
  }

  void watch_user() {
    loop_.watch(signals_.fd(), [this](short) { return take_signals(); });
    if (screen_ != nullptr) {
      loop_.watch(screen_->input_fd(), [this](short events) { return take_keys(events); });
    }
  }

  Result<void> watch_time() {
    const std::chrono::nanoseconds interval = options_.trace.interval;
    HAWK_TRY_VOID(loop_.add_timer(interval, interval, [this](short) { return take_interval(); }));
    if (const auto every = watchers_.report_every) {
      HAWK_TRY_VOID(loop_.add_timer(*every, *every, [this](short) { return drain_and_dump(DumpCause::kTime); }));
    }
    if (!options_.duration) return {};
    return loop_.add_timer(*options_.duration, {}, [this](short) -> Result<void> {
      loop_.end();
      return {};
    });
  }

  Result<void> take_interval() {
    trace_.drain();
    show();
    if (const DumpCause cause = triggers_.due(trace_.totals()); cause != DumpCause::kNone) return dump(cause);
    if (watchers_.interval) return watchers_.interval();
    return {};
  }

  Result<void> drain_and_dump(DumpCause cause) {
    trace_.drain();
    return dump(cause);
  }

  Result<void> dump(DumpCause cause) {
    triggers_.dumped(cause, trace_.totals());
    if (!HAWK_TRY(watchers_.dump(cause))) loop_.end();
    return {};
  }

  void show() {
    if (screen_ == nullptr || screen_->paused()) return;
    screen_->show(trace_.snapshot(), trace_.symbolizer());
  }

  Result<void> take_keys(short events) {
    if ((events & POLLIN) != 0 && screen_->take_events(trace_.symbolizer())) end_for_user();
    if ((events & (POLLHUP | POLLERR)) != 0) loop_.forget(screen_->input_fd());
    return {};
  }

  Result<void> take_signals() {
    for (std::optional<ReceivedSignal> signal; !loop_.has_ended() && (signal = signals_.next());) {
      if (signal->number == SIGUSR1 && relay_ == nullptr) {
        HAWK_TRY_VOID(drain_and_dump(DumpCause::kSignal));
      } else {
        take_signal(*signal);
      }
    }
    return {};
  }

  void take_signal(const ReceivedSignal& signal) {
    if (signal.number == 0) {
      log_warning("the trace ends here: signals cannot be read, so that it could not be ended any more");
      trace_.note_ended_early();
      loop_.end();
    } else if (relay_ != nullptr) {
      obey(relay_->take(signal));
    } else if (signal.number == SIGWINCH) {
      if (screen_ != nullptr) screen_->redraw(trace_.symbolizer());
    } else if (signal.number != SIGCHLD) {
      end_for_user();
    }
  }

  void obey(SignalRelay::Action action) {
    if (action == SignalRelay::Action::kEnd) end_for_user();
    if (action == SignalRelay::Action::kTellToWait) {
      log_info("waiting for the command to end; Ctrl-C again ends the trace now");
    }
  }

  void end_for_user() {
    ended_by_user_ = true;
    loop_.end();
  }

  Result<void> target_ended() {
    trace_.note_target_exited();
    loop_.end();
    return {};
  }

  ProcessTrace& trace_;
  const TraceOptions& options_;
  SignalSource& signals_;
  SignalRelay* relay_;
  LiveScreen* screen_;
  const TraceWatchers& watchers_;
  DumpTriggers triggers_;
  EventLoop loop_;
  bool ended_by_user_ = false;
};

}  // namespace

Result<bool> run_trace_loop(ProcessTrace& trace, const TraceOptions& options, SignalSource& signals, SignalRelay* relay,
                            const TraceWatchers& watchers) {
  return TraceLoop(trace, options, signals, relay, watchers).run();
}

}  // namespace hawk
