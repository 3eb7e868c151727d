#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "userspace/base/unique_fd.h"

namespace hawk {

/// What goes through a Channel.
struct Message {
  std::uint32_t kind = 0;
  std::string body;
  UniqueFd fd;  ///< a descriptor that was handed over; may be none
};

/// One end of a connection between two processes of ours: messages, each with at most one descriptor. Neither trusts
/// the other to be well: a message that makes no sense ends the connection.
class Channel {
 public:
  explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}
  /// Both ends; nullopt: errno tells why.
  static std::optional<std::pair<Channel, Channel>> make_pair();

  /// False: the other end is gone, or has not read for half a minute.
  bool send(std::uint32_t kind, std::string_view body, int fd = -1);
  /// Waits for the next message. `goes_on` is asked each second in which nothing comes, and ends the waiting by false.
  /// nullopt: that, or the other end is gone.
  std::optional<Message> receive(const std::function<bool()>& goes_on = {});

  int fd() const { return socket_.get(); }

 private:
  bool receive_bytes(char* to, std::size_t bytes, UniqueFd* fd, const std::function<bool()>& goes_on);

  UniqueFd socket_;
};

}  // namespace hawk
