#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "userspace/base/unique_fd.h"
#include "userspace/serving/tls.h"

namespace hawk {

/// A connected socket that never waits, encrypted or not.
class ByteChannel {
 public:
  /// `socket` is non-blocking.
  explicit ByteChannel(UniqueFd socket, std::optional<TlsSession> tls = std::nullopt)
      : socket_(std::move(socket)), tls_(std::move(tls)) {}

  int fd() const { return socket_.get(); }

  /// Appends what has come, at most some 16 KiB. False: nothing more can come, or the connection has failed.
  bool receive(std::string& received);
  /// To be sent by flush(), after what has been put before.
  void put(std::string bytes);
  /// Sends as much as the socket takes. False: the connection has failed.
  bool flush();
  /// The other side gets the end once all has been sent.
  void shut_down();

  /// Bytes that have been put and are not sent; 0: all is.
  std::size_t unsent_bytes() const { return plain_.size() - plain_sent_ + (wire_.size() - wire_sent_); }
  /// All bytes that the socket has taken so far: whether it goes on.
  std::size_t sent_bytes() const { return sent_bytes_; }
  /// What to poll for. `wants_input`: whether receive() is to be called.
  short events(bool wants_input) const;
  /// Why encryption has failed; empty: it has not.
  std::string_view failure() const { return tls_ ? std::string_view(tls_->failure()) : std::string_view(); }

 private:
  bool fill_wire();
  bool is_shaking_hands() const { return tls_ && !tls_->is_ready(); }

  UniqueFd socket_;
  std::optional<TlsSession> tls_;
  std::string plain_;  ///< that has been put
  std::size_t plain_sent_ = 0;
  std::string wire_;  ///< what of it goes over the socket, a piece
  std::size_t wire_sent_ = 0;
  std::size_t sent_bytes_ = 0;
  bool is_shutting_down_ = false;
};

}  // namespace hawk
