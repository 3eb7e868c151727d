#include "userspace/serving/byte_channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace hawk {
namespace {

/// So much is encrypted at a time: a large answer is not there twice.
constexpr std::size_t kPieceSize = 64 * 1024;

bool is_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

bool ByteChannel::receive(std::string& received) {
  std::array<char, 16 * 1024> piece;
  const ssize_t count = ::recv(socket_.get(), piece.data(), piece.size(), 0);
  if (count < 0) return is_later(errno);
  if (count == 0) return false;
  const std::string_view bytes(piece.data(), static_cast<std::size_t>(count));
  if (!tls_) {
    received += bytes;
    return true;
  }
  tls_->put_received(bytes);
  if (tls_->read(received)) return true;
  flush();  // the reason, for the other side
  return false;
}

void ByteChannel::put(std::string bytes) {
  if (unsent_bytes() == 0) {
    plain_ = std::move(bytes);
    plain_sent_ = 0;
  } else {
    plain_ += bytes;
  }
}

/// The next piece of what is to be sent. False: it cannot be encrypted.
bool ByteChannel::fill_wire() {
  wire_.clear();
  wire_sent_ = 0;
  const std::string_view piece = std::string_view(plain_).substr(plain_sent_, kPieceSize);
  if (!tls_) {
    wire_ = piece;
    plain_sent_ += piece.size();
    return true;
  }
  if (!piece.empty() && tls_->is_ready()) {
    if (!tls_->write(piece)) return false;
    plain_sent_ += piece.size();
  }
  if (is_shutting_down_ && plain_sent_ == plain_.size()) tls_->close();
  wire_ = tls_->take_to_send();
  return true;
}

bool ByteChannel::flush() {
  for (;;) {
    if (wire_sent_ == wire_.size()) {
      if (!fill_wire()) return false;
      if (wire_.empty()) break;
    }
    const ssize_t count = ::send(socket_.get(), wire_.data() + wire_sent_, wire_.size() - wire_sent_, MSG_NOSIGNAL);
    if (count < 0) return is_later(errno);
    wire_sent_ += static_cast<std::size_t>(count);
    sent_bytes_ += static_cast<std::size_t>(count);
  }
  if (is_shutting_down_ && unsent_bytes() == 0) ::shutdown(socket_.get(), SHUT_WR);
  return true;
}

void ByteChannel::shut_down() { is_shutting_down_ = true; }

short ByteChannel::events(bool wants_input) const {
  const bool can_send = wire_sent_ != wire_.size() || (plain_sent_ != plain_.size() && !is_shaking_hands());
  const int events = (wants_input || is_shaking_hands() ? POLLIN : 0) | (can_send ? POLLOUT : 0);
  return static_cast<short>(events);
}

}  // namespace hawk
