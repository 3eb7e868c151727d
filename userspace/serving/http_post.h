#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "userspace/base/event_loop.h"
#include "userspace/serving/push_target.h"

namespace hawk {

/// What is sent.
struct PostedBody {
  std::string path;
  std::string content_type;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

/// Sends `body` to the server of `url`, over a connection of its own. Calls `done` in the event loop, once: `failure`
/// is empty if the server has accepted it, otherwise says why not. Not any more once what is returned is destroyed.
/// `loop` must outlive that. `tls`: for https.
std::shared_ptr<void> post(EventLoop& loop, const HttpUrl& url, const std::optional<TlsContext>& tls, PostedBody body,
                           std::chrono::milliseconds time, std::function<void(std::string failure)> done);

}  // namespace hawk
