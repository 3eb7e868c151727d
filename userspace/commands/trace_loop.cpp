#include "userspace/commands/trace_loop.h"

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <optional>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/base/log.h"

namespace hawk {
namespace {

class TraceLoop {
 public:
  TraceLoop(const Traces& traces, const TraceOptions& options, SignalSource& signals, SignalRelay* relay,
            const TraceWatchers& watchers)
      : first_(*traces.front()),
        options_(options),
        signals_(signals),
        relay_(relay),
        screen_(watchers.screen),
        watchers_(watchers) {
    for (const auto& trace : traces) followed_.push_back({trace.get(), DumpTriggers(options.dumps)});
  }

  Result<bool> run() {
    for (const Followed& followed : followed_) watch_process(*followed.trace);
    watch_user();
    HAWK_TRY_VOID(watch_time());
    // The last: what came before the end is taken first.
    for (const Followed& followed : followed_) {
      loop_.watch(followed.trace->pid_fd(), [this, &trace = *followed.trace](short) { return target_ended(trace); });
    }
    show();
    HAWK_TRY_VOID(loop_.run());
    return ended_by_user_;
  }

 private:
  /// A trace that goes on.
  struct Followed {
    ProcessTrace* trace;
    DumpTriggers triggers;
  };

  void watch_process(ProcessTrace& trace) {
    loop_.watch(trace.wakeup_fd(), [&trace](short) -> Result<void> {
      trace.adjust_memory();
      return {};
    });
    loop_.watch(trace.mapping_fd(), [&trace](short) -> Result<void> {
      trace.take_mapping_events();
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
    for (Followed& followed : followed_) followed.trace->drain();
    show();
    for (Followed& followed : followed_) {
      if (loop_.has_ended()) break;
      const DumpCause cause = followed.triggers.due(followed.trace->totals());
      if (cause != DumpCause::kNone) {
        HAWK_TRY_VOID(dump(followed, cause));
      } else if (watchers_.interval) {
        HAWK_TRY_VOID(watchers_.interval(*followed.trace));
      }
    }
    return {};
  }

  Result<void> drain_and_dump(DumpCause cause) {
    for (Followed& followed : followed_) {
      if (loop_.has_ended()) break;
      followed.trace->drain();
      HAWK_TRY_VOID(dump(followed, cause));
    }
    return {};
  }

  Result<void> dump(Followed& followed, DumpCause cause) {
    followed.triggers.dumped(cause, followed.trace->totals());
    if (!HAWK_TRY(watchers_.dump(*followed.trace, cause))) loop_.end();
    return {};
  }

  void show() {
    if (screen_ == nullptr || screen_->paused()) return;
    screen_->show(first_.snapshot(), first_.symbolizer());
  }

  Result<void> take_keys(short events) {
    if ((events & POLLIN) != 0 && screen_->take_events(first_.symbolizer())) end_for_user();
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
      for (const Followed& followed : followed_) followed.trace->note_ended_early();
      loop_.end();
    } else if (relay_ != nullptr) {
      obey(relay_->take(signal));
    } else if (signal.number == SIGWINCH) {
      if (screen_ != nullptr) screen_->redraw(first_.symbolizer());
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

  /// The trace of the last one is ended by who has begun it.
  Result<void> target_ended(ProcessTrace& trace) {
    trace.note_target_exited();
    if (followed_.size() == 1) {
      loop_.end();
      return {};
    }
    for (const int fd : {trace.wakeup_fd(), trace.mapping_fd(), trace.pid_fd()}) loop_.forget(fd);
    std::erase_if(followed_, [&trace](const Followed& followed) { return followed.trace == &trace; });
    HAWK_TRY_VOID(trace.end(options_.verify, false));
    return watchers_.ended ? watchers_.ended(trace) : Result<void>{};
  }

  ProcessTrace& first_;
  std::vector<Followed> followed_;
  const TraceOptions& options_;
  SignalSource& signals_;
  SignalRelay* relay_;
  LiveScreen* screen_;
  const TraceWatchers& watchers_;
  EventLoop loop_;
  bool ended_by_user_ = false;
};

}  // namespace

Result<bool> run_trace_loop(const Traces& traces, const TraceOptions& options, SignalSource& signals,
                            SignalRelay* relay, const TraceWatchers& watchers) {
  return TraceLoop(traces, options, signals, relay, watchers).run();
}

}  // namespace hawk
