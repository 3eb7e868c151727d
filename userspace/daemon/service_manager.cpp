#include "userspace/daemon/service_manager.h"

#include <fmt/core.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.address_ = UnixAddress::of(take_variable("NOTIFY_SOCKET"));
  const auto watchdog_us = leading_number<std::int64_t>(take_variable("WATCHDOG_USEC"));
  const auto watchdog_pid = leading_number<int>(take_variable("WATCHDOG_PID"));
  if (!manager.address_) return manager;
  manager.socket_ = UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (watchdog_us && *watchdog_us > 0 && watchdog_pid.value_or(::getpid()) == ::getpid()) {
    manager.watchdog_ = std::chrono::microseconds(*watchdog_us);
  }
  return manager;
}

void ServiceManager::notify(std::string_view state) const {
  if (!socket_) return;
  ::sendto(socket_.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT, address_->get(), address_->length());
}

void ServiceManager::ready(std::string_view status) const { notify(fmt::format("READY=1\nSTATUS={}", status)); }

void ServiceManager::reloading() const {
  const auto now =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now().time_since_epoch());
  notify(fmt::format("RELOADING=1\nMONOTONIC_USEC={}", now.count()));
}

void ServiceManager::feed_watchdog(std::chrono::steady_clock::time_point now) {
  constexpr int kTimesInTime = 4;
  if (!watchdog_ || now - fed_ < *watchdog_ / kTimesInTime) return;
  fed_ = now;
  notify("WATCHDOG=1");
}

}  // namespace hawk
