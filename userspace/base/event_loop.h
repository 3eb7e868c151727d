#pragma once

#include <poll.h>

#include <chrono>
#include <deque>
#include <functional>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Waits for what happens first and calls the callback added for it, until one of them ends the loop. What happens at
/// the same time is dealt with in the order in which it was added. Single-threaded.
class EventLoop {
 public:
  /// `events`: poll(2)'s POLLIN, POLLHUP and POLLERR. A failure ends the loop.
  using Handler = std::function<Result<void>(short events)>;

  EventLoop() = default;
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  /// Calls `handler` whenever `fd`, which must outlive the loop, is readable or has been hung up.
  void watch(int fd, Handler handler);
  /// Watches it no more.
  void forget(int fd);
  /// Calls `handler` after `first`, and again after every `repeat` (zero: never), once for all that were missed.
  Result<void> add_timer(std::chrono::nanoseconds first, std::chrono::nanoseconds repeat, Handler handler);

  /// Ends run() once all has been dealt with that has happened by now.
  void end() { ended_ = true; }
  bool has_ended() const { return ended_; }
  /// Fails if waiting does, or a handler.
  Result<void> run();

 private:
  struct Watch {
    int fd = -1;  ///< -1: watched no more
    Handler handler;
  };

  Result<void> run_once();

  std::deque<Watch> watches_;  ///< stay where they are when others are added
  std::vector<pollfd> waited_;
  std::vector<UniqueFd> timers_;
  bool ended_ = false;
};

}  // namespace hawk
