#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// A timer of an event loop. Never used for another one.
enum class TimerId : std::uint64_t {};

/// Waits for what happens first and calls the callback added for it, until one of them ends the loop. What happens at
/// the same time is dealt with in the order in which it was added. Single-threaded.
class EventLoop {
 public:
  /// `events`: poll(2)'s POLLIN, POLLOUT, POLLHUP and POLLERR. A failure ends the loop.
  using Handler = std::function<Result<void>(short events)>;

  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Calls `handler` whenever one of `events` (POLLIN, POLLOUT) has happened to `fd`, or it has been hung up. `fd` must
  /// be forgotten before it is closed, or outlive the loop.
  void watch(int fd, Handler handler, short events = POLLIN);
  /// From now on waits for `events`; 0: only for a hang-up.
  void set_events(int fd, short events);
  /// Watches it no more. A handler may forget itself.
  void forget(int fd);
  /// Calls `handler` after `first`, and again after every `repeat` (zero: never; the timer is removed then), once for
  /// all that were missed.
  Result<TimerId> add_timer(std::chrono::nanoseconds first, std::chrono::nanoseconds repeat, Handler handler);
  /// A timer that has been removed is ignored.
  void remove_timer(TimerId id);

  /// Ends run() once all has been dealt with that has happened by now.
  void end() { ended_ = true; }
  bool has_ended() const { return ended_; }
  /// Fails if waiting does, or a handler.
  Result<void> run();

 private:
  struct Watch {
    int fd = -1;  ///< -1: watched no more
    Handler handler;
    short events = 0;
  };
  struct Timer {
    TimerId id{};
    UniqueFd fd;
  };

  Result<void> run_once();

  std::deque<Watch> watches_;  ///< stay where they are while handlers run, even when others are added
  std::vector<pollfd> waited_;
  std::vector<Timer> timers_;
  TimerId next_timer_{};
  bool ended_ = false;
};

}  // namespace hawk
