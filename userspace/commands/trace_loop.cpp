#include "userspace/commands/trace_loop.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/base/log.h"

namespace hawk {
namespace {

class TraceLoop {
 public:
  TraceLoop(TracedProcesses& traced, TracedHeap& heap, const TraceOptions& options, SignalSource& signals,
            SignalRelay* relay, const TraceWatchers& watchers)
      : traced_(traced),
        group_(traced.group()),
        heap_(heap),
        triggers_(options.dumps),
        options_(options),
        signals_(signals),
        relay_(relay),
        screen_(watchers.screen),
        watchers_(watchers) {}

  Result<bool> run() {
    watch_programs();
    watch_user();
    HAWK_TRY_VOID(watch_time());
    // The last: what came before the end is taken first.
    follow_new();
    HAWK_TRY_VOID(show());
    HAWK_TRY_VOID(loop_.run());
    return ended_by_user_;
  }

 private:
  void watch_programs() {
    loop_.watch(group_.wakeup_fd(), [this](short) -> Result<void> {
      group_.adjust_memory();
      return {};
    });
    loop_.watch(group_.mapping_fd(), [this](short) -> Result<void> {
      group_.take_mapping_events();
      follow_new();
      return end_some();
    });
  }

  /// The traces that the group has added.
  void follow_new() {
    for (; seen_ < group_.traces().size(); ++seen_) {
      ProcessTrace& trace = *group_.traces()[seen_];
      followed_.push_back(&trace);
      if (trace.pid_fd() < 0) {
        note_ended(trace);
      } else {
        loop_.watch(trace.pid_fd(), [this, &trace](short) { return target_ended(trace); });
      }
    }
  }

  void pick_up() {
    for (ProcessTrace* const trace : traced_.pick_up()) {
      if (screen_ == nullptr) log_info(fmt::format("tracing process {}, too", trace->pid()));
    }
    follow_new();
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
    if (const auto every = options_.mark_every) {
      HAWK_TRY_VOID(loop_.add_timer(*every, *every, [this](short) -> Result<void> {
        if (is_mark_due()) log_verbose(begins_text(mark()));
        return {};
      }));
    }
    constexpr std::chrono::milliseconds kSoon{100};
    if (traced_.picks_up()) {
      HAWK_TRY_VOID(loop_.add_timer(kSoon, kSoon, [this](short) -> Result<void> {
        pick_up();
        return {};
      }));
    }
    if (!options_.duration) return {};
    HAWK_TRY_VOID(loop_.add_timer(*options_.duration, {}, [this](short) -> Result<void> {
      loop_.end();
      return {};
    }));
    return {};
  }

  void drain() {
    group_.drain();
    follow_new();
    heap_.note_drain(options_.keeps_peak);
  }

  Result<void> take_interval() {
    drain();
    HAWK_TRY_VOID(end_ended());
    HAWK_TRY_VOID(show());
    const DumpCause cause = triggers_.due(heap_.totals());
    if (cause != DumpCause::kNone) return dump(cause);
    return watchers_.interval ? watchers_.interval() : Result<void>{};
  }

  Result<void> drain_and_dump(DumpCause cause) {
    drain();
    return dump(cause);
  }

  Result<void> dump(DumpCause cause) {
    triggers_.dumped(cause, heap_.totals());
    if (options_.trace.reads_lives) HAWK_TRY_VOID(group_.read_lives());
    if (!HAWK_TRY(watchers_.dump(cause))) loop_.end();
    return {};
  }

  /// Begins a generation of blocks; returns its number.
  std::size_t mark() {
    drain();
    return group_.mark();
  }

  /// Of --mark-every. Each mark takes the clock on to a stamp of its own, which stands for up to a 2^19th of the
  /// trace's length (bpf/clock.h): in a trace of days more of them would make it fast, and all blocks older than they
  /// are.
  bool is_mark_due() {
    constexpr int kPartOfLength = 1 << 19;
    const auto now = std::chrono::steady_clock::now();
    if (now - marked_at_ < (now - began_) / kPartOfLength) return false;
    marked_at_ = now;
    return true;
  }

  static std::string begins_text(std::size_t generation) { return fmt::format("generation {} begins", generation); }

  Result<void> show() {
    if (screen_ == nullptr || screen_->paused()) return {};
    screen_->show(HAWK_TRY(heap_.snapshot(screen_->take_spare())), heap_.symbolizer());
    return {};
  }

  Result<void> take_keys(short events) {
    if ((events & POLLIN) != 0) {
      const LiveScreen::Requests requests = screen_->take_events(heap_.symbolizer());
      for (std::size_t i = 0; i < requests.marks; ++i) mark();
      if (requests.quits) end_for_user();
    }
    if ((events & (POLLHUP | POLLERR)) != 0) loop_.forget(screen_->input_fd());
    return {};
  }

  Result<void> take_signals() {
    for (std::optional<ReceivedSignal> signal; !loop_.has_ended() && (signal = signals_.next());) {
      HAWK_TRY_VOID(take_signal(*signal));
    }
    return {};
  }

  Result<void> take_signal(const ReceivedSignal& signal) {
    if (signal.number == 0) {
      log_warning("the trace ends here: signals cannot be read, so it could not be ended later");
      for (ProcessTrace* trace : followed_) trace->note_ended_early();
      loop_.end();
    } else if (relay_ != nullptr) {
      obey(relay_->take(signal));
    } else if (signal.number == SIGUSR1) {
      return drain_and_dump(DumpCause::kSignal);
    } else if (signal.number == SIGUSR2) {
      const std::string text = begins_text(mark());
      if (screen_ == nullptr) log_info(text);
    } else if (signal.number == SIGWINCH) {
      if (screen_ != nullptr) screen_->redraw(heap_.symbolizer());
    } else if (signal.number != SIGCHLD) {
      end_for_user();
    }
    return {};
  }

  void obey(SignalRelay::Action action) {
    if (action == SignalRelay::Action::kEnd) end_for_user();
    if (action == SignalRelay::Action::kSayToWait) {
      log_info("waiting for the command to end; Ctrl-C again ends the trace now");
    }
  }

  void end_for_user() {
    ended_by_user_ = true;
    loop_.end();
  }

  void note_ended(ProcessTrace& trace) {
    trace.note_target_exited();
    std::erase(followed_, &trace);
    ended_.push_back(&trace);
  }

  /// The trace of the last one is ended by who has begun it.
  Result<void> target_ended(ProcessTrace& trace) {
    loop_.forget(trace.pid_fd());
    note_ended(trace);
    // What it has started last.
    group_.take_mapping_events();
    follow_new();
    if (followed_.empty() && traced_.picks_up()) pick_up();
    if (followed_.empty()) {
      loop_.end();
      return {};
    }
    return options_.trace.follows_children ? end_some() : end_ended();
  }

  /// Where processes come and go by the thousand, many at a time: to end one takes a drain.
  Result<void> end_some() {
    constexpr std::size_t kMany = 64;
    return ended_.size() < kMany ? Result<void>{} : end_ended();
  }

  Result<void> end_ended() {
    if (ended_.empty() || followed_.empty()) return {};
    const std::vector<ProcessTrace*> ending = std::exchange(ended_, {});
    HAWK_TRY_VOID(group_.end(ending, {.verify = options_.verify}));
    for (ProcessTrace* trace : ending) {
      if (watchers_.ended) HAWK_TRY_VOID(watchers_.ended(*trace));
    }
    follow_new();
    return {};
  }

  TracedProcesses& traced_;
  TraceGroup& group_;
  TracedHeap& heap_;
  DumpTriggers triggers_;
  std::size_t seen_ = 0;                 ///< of the group's traces
  std::vector<ProcessTrace*> followed_;  ///< those that go on
  std::vector<ProcessTrace*> ended_;     ///< those whose process has ended, but not they
  const TraceOptions& options_;
  SignalSource& signals_;
  SignalRelay* relay_;
  LiveScreen* screen_;
  const TraceWatchers& watchers_;
  EventLoop loop_;
  bool ended_by_user_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), marked_at_ = began_;
};

}  // namespace

Result<bool> run_trace_loop(TracedProcesses& traced, TracedHeap& heap, const TraceOptions& options,
                            SignalSource& signals, SignalRelay* relay, const TraceWatchers& watchers) {
  return TraceLoop(traced, heap, options, signals, relay, watchers).run();
}

}  // namespace hawk
