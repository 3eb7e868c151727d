#include "userspace/base/event_loop.h"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

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

void EventLoop::watch(int fd, Handler handler) { watches_.push_back({fd, std::move(handler)}); }

void EventLoop::forget(int fd) {
  for (Watch& watch : watches_) {
    if (watch.fd == fd) watch.fd = -1;
  }
}

Result<void> EventLoop::add_timer(std::chrono::nanoseconds first, std::chrono::nanoseconds repeat, Handler handler) {
  UniqueFd timer(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  const itimerspec spec = {.it_interval = to_timespec(repeat), .it_value = to_timespec(first)};
  if (!timer || ::timerfd_settime(timer.get(), 0, &spec, nullptr) != 0) {
    return system_failure(ExitCode::kPrivilege, "set a timer", errno);
  }
  watch(timer.get(), [fd = timer.get(), handler = std::move(handler)](short events) -> Result<void> {
    std::uint64_t expirations = 0;
    if (::read(fd, &expirations, sizeof(expirations)) < 0) return {};
    return handler(events);
  });
  timers_.push_back(std::move(timer));
  return {};
}

Result<void> EventLoop::run() {
  while (!ended_) HAWK_TRY_VOID(run_once());
  return {};
}

Result<void> EventLoop::run_once() {
  waited_.clear();
  for (const Watch& watch : watches_) waited_.push_back({.fd = watch.fd, .events = POLLIN, .revents = 0});
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
