#include "userspace/commands/trace_loop.h"

#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "userspace/base/log.h"
#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

/// Readable after `first`, and again after every `repeat` (zero: never).
Result<UniqueFd> make_timer(std::chrono::nanoseconds first, std::chrono::nanoseconds repeat) {
  UniqueFd fd(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec spec = {.it_interval = to_timespec(repeat), .it_value = to_timespec(first)};
  if (!fd || ::timerfd_settime(fd.get(), 0, &spec, nullptr) != 0) {
    return system_failure(ExitCode::kPrivilege, "set a timer", errno);
  }
  return fd;
}

class TraceLoop {
 public:
  TraceLoop(Session& session, const Options& options, SignalSource& signals, SignalRelay* relay, LiveScreen* screen,
            const std::function<Result<bool>()>& report)
      : session_(session), options_(options), signals_(signals), relay_(relay), screen_(screen), report_(report) {}

  Result<bool> run() {
    interval_ = HAWK_TRY(make_timer(options_.interval, options_.interval));
    if (options_.report_every) report_timer_ = HAWK_TRY(make_timer(*options_.report_every, *options_.report_every));
    if (options_.duration) end_ = HAWK_TRY(make_timer(*options_.duration, std::chrono::nanoseconds{}));
    show();
    while (!done_) HAWK_TRY_VOID(wait_once());
    return ended_by_user_;
  }

 private:
  Result<void> wait_once() {
    enum { kSignal, kTarget, kMappings, kWakeup, kInterval, kReport, kEnd, kKeys, kCount };
    std::array<pollfd, kCount> fds = {};
    const auto watch = [&](std::size_t which, int fd) { fds[which] = {.fd = fd, .events = POLLIN, .revents = 0}; };
    watch(kSignal, signals_.fd());
    watch(kTarget, session_.pid_fd());
    watch(kMappings, session_.mapping_fd());
    watch(kWakeup, session_.wakeup_fd());
    watch(kInterval, interval_.get());
    watch(kReport, report_timer_.get());
    watch(kEnd, end_.get());
    watch(kKeys, screen_ != nullptr && keys_open_ ? screen_->input_fd() : -1);
    if (::poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) return {};
      return system_failure(ExitCode::kPrivilege, "poll", errno);
    }
    if (fds[kWakeup].revents != 0) session_.tend();
    if (fds[kMappings].revents != 0) session_.take_mapping_events();
    if (fds[kSignal].revents != 0) take_signals();
    if (fds[kKeys].revents != 0) take_keys(fds[kKeys].revents);
    if (fds[kInterval].revents != 0) take_interval();
    if (fds[kReport].revents != 0) HAWK_TRY_VOID(take_report());
    if (fds[kEnd].revents != 0) done_ = true;
    if (fds[kTarget].revents != 0) target_ended();
    return {};
  }

  void take_interval() {
    std::uint64_t expirations = 0;
    if (::read(interval_.get(), &expirations, sizeof(expirations)) < 0) return;
    session_.drain();
    show();
  }

  Result<void> take_report() {
    std::uint64_t expirations = 0;
    if (::read(report_timer_.get(), &expirations, sizeof(expirations)) < 0) return {};
    session_.drain();
    if (!HAWK_TRY(report_())) done_ = true;
    return {};
  }

  void show() {
    if (screen_ == nullptr || screen_->paused()) return;
    screen_->show(session_.snapshot(), session_.symbolizer());
  }

  void take_keys(short events) {
    if ((events & POLLIN) != 0 && screen_->take_events(session_.symbolizer())) end_for_user();
    if ((events & (POLLHUP | POLLERR)) != 0) keys_open_ = false;
  }

  void take_signals() {
    for (std::optional<ReceivedSignal> signal; !done_ && (signal = signals_.next());) take_signal(*signal);
  }

  void take_signal(const ReceivedSignal& signal) {
    if (signal.number == 0) {
      log_warning("the trace ends here: signals cannot be read, and nobody could end it any more");
      done_ = true;
    } else if (relay_ != nullptr) {
      obey(relay_->take(signal));
    } else if (signal.number == SIGWINCH) {
      if (screen_ != nullptr) screen_->redraw(session_.symbolizer());
    } else if (signal.number != SIGCHLD) {
      end_for_user();
    }
  }

  void obey(SignalRelay::Wish wish) {
    if (wish == SignalRelay::Wish::kEnd) end_for_user();
    if (wish == SignalRelay::Wish::kTellToWait) {
      log_info("waiting for the command to end; Ctrl-C again ends the trace now");
    }
  }

  void end_for_user() {
    ended_by_user_ = true;
    done_ = true;
  }

  void target_ended() {
    session_.note_target_exited();
    done_ = true;
  }

  Session& session_;
  const Options& options_;
  SignalSource& signals_;
  SignalRelay* relay_;
  LiveScreen* screen_;
  const std::function<Result<bool>()>& report_;
  UniqueFd interval_;
  UniqueFd report_timer_;
  UniqueFd end_;
  bool keys_open_ = true;
  bool ended_by_user_ = false;
  bool done_ = false;
};

}  // namespace

Result<bool> run_trace_loop(Session& session, const Options& options, SignalSource& signals, SignalRelay* relay,
                            LiveScreen* screen, const std::function<Result<bool>()>& report) {
  return TraceLoop(session, options, signals, relay, screen, report).run();
}

}  // namespace hawk
