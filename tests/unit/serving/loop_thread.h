#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <thread>

#include "userspace/base/event_loop.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Runs `loop` on a thread of its own until it is destroyed. Nobody else may touch the loop meanwhile.
class LoopThread {
 public:
  explicit LoopThread(EventLoop& loop) : loop_(loop) {
    loop_.watch(end_.get(), [this](short) -> Result<void> {
      loop_.end();
      return {};
    });
    thread_ = std::jthread([this] { ran_ = loop_.run().has_value(); });
  }
  LoopThread(const LoopThread&) = delete;
  LoopThread& operator=(const LoopThread&) = delete;
  ~LoopThread() { end(); }

  /// Whether it has ended without a failure.
  bool end() {
    if (!thread_.joinable()) return ran_;
    const std::uint64_t one = 1;
    if (::write(end_.get(), &one, sizeof(one)) != sizeof(one)) return false;
    thread_.join();
    loop_.forget(end_.get());
    return ran_;
  }

 private:
  EventLoop& loop_;
  UniqueFd end_{::eventfd(0, EFD_CLOEXEC)};
  bool ran_ = false;
  std::jthread thread_;
};

}  // namespace hawk
