#include "userspace/base/event_loop.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

timespec to_timespec(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_nsec = (time - seconds).count()};
}

}  // namespace

void EventLoop::watch(int fd, Handler handler, short events) { watches_.push_back({fd, std::move(handler), events}); }

void EventLoop::set_events(int fd, short events) {
  for (Watch& watch : watches_) {
    if (watch.fd == fd) watch.events = events;
  }
}

void EventLoop::forget(int fd) {
  for (Watch& watch : watches_) {
    if (watch.fd == fd) watch.fd = -1;
  }
}

Result<TimerId> EventLoop::add_timer(std::chrono::nanoseconds first, std::chrono::nanoseconds repeat, Handler handler) {
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec spec = {.it_interval = to_timespec(repeat), .it_value = to_timespec(first)};
  if (!timer || ::timerfd_settime(timer.get(), 0, &spec, nullptr) != 0) {
    return system_failure(ExitCode::kPrivilege, "set a timer", errno);
  }
  const TimerId id = next_timer_;
  next_timer_ = TimerId(static_cast<std::uint64_t>(id) + 1);
  const bool is_once = repeat == std::chrono::nanoseconds::zero();
  watch(timer.get(), [this, id, is_once, fd = timer.get(), handler = std::move(handler)](short events) -> Result<void> {
    std::uint64_t expirations = 0;
    if (::read(fd, &expirations, sizeof(expirations)) < 0) return {};
    if (is_once) remove_timer(id);
    return handler(events);
  });
  timers_.push_back({id, std::move(timer)});
  return id;
}

void EventLoop::remove_timer(TimerId id) {
  const auto timer = std::find_if(timers_.begin(), timers_.end(), [id](const Timer& known) { return known.id == id; });
  if (timer == timers_.end()) return;
  forget(timer->fd.get());
  timers_.erase(timer);
}

Result<void> EventLoop::run() {
  while (!ended_) HAWK_TRY_VOID(run_once());
  return {};
}

Result<void> EventLoop::run_once() {
  // Not when they are forgotten: the handler of one may be what forgets it.
  std::erase_if(watches_, [](const Watch& watch) { return watch.fd < 0; });
  waited_.clear();
  for (const Watch& watch : watches_) waited_.push_back({.fd = watch.fd, .events = watch.events, .revents = 0});
  if (::poll(waited_.data(), waited_.size(), -1) < 0) {
    if (errno == EINTR) return {};
    return system_failure(ExitCode::kPrivilege, "poll", errno);
  }
  // By index: a handler may add others. A descriptor that has been removed is not called.
  for (std::size_t i = 0; i < waited_.size(); ++i) {
    if (waited_[i].revents != 0 && watches_[i].fd >= 0) HAWK_TRY_VOID(watches_[i].handler(waited_[i].revents));
  }
  return {};
}

}  // namespace hawk
