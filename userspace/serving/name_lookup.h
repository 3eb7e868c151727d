#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "userspace/base/event_loop.h"

namespace hawk {

/// An address that a name stands for.
struct HostAddress {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
};

/// Looks up the addresses of `host`, which takes as long as name servers like, on a thread of its own. Calls `done` in
/// the event loop: none were found, or `failure` says why not. Not any more once what is returned is destroyed, which
/// does not wait for the thread. `loop` must outlive that.
std::shared_ptr<void> look_up(EventLoop& loop, const std::string& host, std::uint16_t port,
                              std::function<void(std::vector<HostAddress> addresses, std::string failure)> done);

}  // namespace hawk
