#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  /// Both ends; nullopt: errno says why.
  static std::optional<std::pair<Channel, Channel>> make_pair();

  /// False: the other end is gone, or has not read for half a minute.
  bool send(std::uint32_t kind, std::string_view body, int fd = -1);
  /// The same, but a small message is held back until the next send(): the other end is woken once for all of an
  /// answer.
  bool send_later(std::uint32_t kind, std::string_view body);
  /// Waits for the next message. `goes_on` is asked each second in which nothing comes, and ends the waiting by false.
  /// nullopt: that, or the other end is gone.
  std::optional<Message> receive(const std::function<bool()>& goes_on = {});

  int fd() const { return socket_.get(); }

 private:
  std::size_t receive_some(char* to, std::size_t bytes, const std::function<bool()>& goes_on);
  bool receive_bytes(char* to, std::size_t bytes, const std::function<bool()>& goes_on);

  UniqueFd socket_;
  std::string held_back_;       ///< to be sent in front of the next message
  std::vector<char> received_;  ///< the first `there_` bytes of it are what one call received
  std::size_t there_ = 0;
  std::size_t taken_ = 0;  ///< of these
  UniqueFd received_fd_;   ///< that came with the last of them
  bool is_timed_ = false;  ///< receiving ends after a second
};

}  // namespace hawk
