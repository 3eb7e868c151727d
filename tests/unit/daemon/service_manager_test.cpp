#include "userspace/daemon/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "tests/support/scratch_directory.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

using namespace std::chrono_literals;

/// Stands for the service manager.
class NotifySocket {
 public:
  NotifySocket() : fd_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    const std::optional<UnixAddress> address = UnixAddress::of(path());
    if (!address || ::bind(fd_.get(), address->get(), address->length()) != 0) throw std::runtime_error("bind");
    ::setenv("NOTIFY_SOCKET", path().c_str(), 1);
    ::setenv("WATCHDOG_USEC", "400000", 1);
    ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  }
  std::string path() const { return directory_.path("notify"); }
  /// The next message; empty: there is none.
  std::string next() const {
    std::array<char, 4096> buffer = {};
    const ssize_t got = ::recv(fd_.get(), buffer.data(), buffer.size(), 0);
    return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
  }

 private:
  ScratchDirectory directory_;
  UniqueFd fd_;
};

TEST(ServiceManager, IsToldTheState) {
  const NotifySocket socket;
  const ServiceManager manager = ServiceManager::from_environment();
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr);
  manager.ready("tracing");
  EXPECT_EQ(socket.next(), "READY=1\nSTATUS=tracing");
  manager.reloading();
  EXPECT_TRUE(socket.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
}

TEST(ServiceManager, IsFedAsOftenAsItNeeds) {
  const NotifySocket socket;
  ServiceManager manager = ServiceManager::from_environment();
  EXPECT_EQ(manager.watchdog(), 400ms);
  const auto now = std::chrono::steady_clock::now();
  manager.feed_watchdog(now);
  EXPECT_EQ(socket.next(), "WATCHDOG=1");
  manager.feed_watchdog(now + 99ms);
  EXPECT_EQ(socket.next(), "");
  manager.feed_watchdog(now + 100ms);
  EXPECT_EQ(socket.next(), "WATCHDOG=1");
}

TEST(ServiceManager, NeedNotBeThere) {
  ServiceManager manager = ServiceManager::from_environment();
  EXPECT_EQ(manager.watchdog(), std::nullopt);
  manager.ready("tracing");
  manager.feed_watchdog(std::chrono::steady_clock::now());
}

}  // namespace
}  // namespace hawk
