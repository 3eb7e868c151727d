#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "userspace/base/unique_fd.h"
#include "userspace/base/unix_address.h"

namespace hawk {

/// The service manager that has started us (sd_notify(3), which this does without its library); without one nothing
/// happens.
class ServiceManager {
 public:
  /// By NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, which are removed from the environment.
  static ServiceManager from_environment();

  /// "READY=1", "STATUS=...", several lines at a time. One that is not taken is lost.
  void notify(std::string_view state) const;
  /// READY=1 and STATUS.
  void ready(std::string_view status) const;
  /// RELOADING=1 with the time, after which ready() is due.
  void reloading() const;
  /// To be called by what must not stop. Sends WATCHDOG=1 if the manager wants it, and not more often than it needs.
  void feed_watchdog(std::chrono::steady_clock::time_point now);
  /// After this long without feed_watchdog() we are killed; nullopt: never.
  std::optional<std::chrono::nanoseconds> watchdog() const { return watchdog_; }

 private:
  UniqueFd socket_;
  std::optional<UnixAddress> address_;
  std::optional<std::chrono::nanoseconds> watchdog_;
  std::chrono::steady_clock::time_point fed_{};
};

}  // namespace hawk
