#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/event_loop.h"
#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/serving/listen_address.h"

namespace hawk {

/// Where systemd-oomd (260 and later) says which cgroup it is about to kill, and waits for the answer: a service of the
/// interface io.systemd.oom.Prekill, by varlink. Clients have bounded memory, and the number of them is bounded: when
/// it is reached, the first gives way.
class OomHook {
 public:
  /// Gets the path of a cgroup in the hierarchy of version 2. The kill waits for its return.
  using Handler = std::function<void(const std::string& cgroup)>;

  /// Listens at a path, in a directory that exists. `loop` must outlive it.
  static Result<std::unique_ptr<OomHook>> listen(EventLoop& loop, const std::string& path, Handler handler);
  OomHook(const OomHook&) = delete;
  OomHook& operator=(const OomHook&) = delete;
  ~OomHook();

  static constexpr std::size_t kMostClients = 8;
  static constexpr std::size_t kLongestMessage = 64 * 1024;

 private:
  struct Client {
    UniqueFd socket;
    std::string received = {};
  };

  OomHook(EventLoop& loop, Listener listener, Handler handler);
  void accept();
  void receive(int fd);
  bool take_messages(Client& client) const;
  void close(const Client& client);

  EventLoop& loop_;
  Listener listener_;
  Handler handler_;
  std::deque<Client> clients_;  ///< the first has been there for longest
};

/// The answer to a message of varlink, without the zero byte at its end; empty: none is wanted. Calls `handler` if it
/// announces a kill. nullopt: that is no message.
std::optional<std::string> answer_to_varlink(std::string_view message, const OomHook::Handler& handler);

}  // namespace hawk
