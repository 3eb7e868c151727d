#include "userspace/study/channel.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>

namespace hawk {
namespace {

/// In front of each body.
struct Header {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
};

/// Larger than anything that either end sends at once.
constexpr std::uint32_t kMaxBodyBytes = 64u << 20;
/// Messages up to this size are held back, and this many bytes are received at once.
constexpr std::size_t kSmallBytes = std::size_t{16} << 10;
constexpr timeval kSecond = {.tv_sec = 1, .tv_usec = 0};
constexpr timeval kSendLimit = {.tv_sec = 30, .tv_usec = 0};

/// Room for one descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

iovec part_of(std::string_view bytes) { return {.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()}; }

std::string_view bytes_of(const Header& header) { return {reinterpret_cast<const char*>(&header), sizeof header}; }

/// Takes bytes off the front.
void skip(std::span<iovec>& parts, std::size_t bytes) {
  while (!parts.empty() && bytes >= parts.front().iov_len) {
    bytes -= parts.front().iov_len;
    parts = parts.subspan(1);
  }
  if (parts.empty()) return;
  parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + bytes;
  parts.front().iov_len -= bytes;
}

/// Sends all of it; the descriptor is sent with the first byte.
bool send_parts(int socket, std::span<iovec> parts, int fd) {
  for (skip(parts, 0); !parts.empty();) {
    Control control = {};
    msghdr message = {};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    if (fd >= 0) {
      message.msg_control = control.bytes;
      message.msg_controllen = sizeof control.bytes;
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(sizeof fd);
      std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    fd = -1;
    skip(parts, static_cast<std::size_t>(sent));
  }
  return true;
}

UniqueFd descriptor_in(msghdr& message) {
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) return {};
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
  return UniqueFd(fd);
}

}  // namespace

std::optional<std::pair<Channel, Channel>> Channel::make_pair() {
  int ends[2] = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return std::nullopt;
  std::pair made = {Channel(UniqueFd(ends[0])), Channel(UniqueFd(ends[1]))};
  for (const int end : ends) ::setsockopt(end, SOL_SOCKET, SO_SNDTIMEO, &kSendLimit, sizeof kSendLimit);
  return made;
}

bool Channel::send(std::uint32_t kind, std::string_view body, int fd) {
  if (body.size() > kMaxBodyBytes) return false;
  const Header header = {kind, static_cast<std::uint32_t>(body.size())};
  const std::string before = std::exchange(held_back_, {});
  std::array parts = {part_of(before), part_of(bytes_of(header)), part_of(body)};
  const std::span all(parts);
  if (fd < 0) return send_parts(socket_.get(), all, -1);
  return send_parts(socket_.get(), all.first(1), -1) && send_parts(socket_.get(), all.subspan(1), fd);
}

bool Channel::send_later(std::uint32_t kind, std::string_view body) {
  if (held_back_.size() + body.size() > kSmallBytes) return send(kind, body);
  const Header header = {kind, static_cast<std::uint32_t>(body.size())};
  held_back_.append(bytes_of(header)).append(body);
  return true;
}

/// Returns the number of received bytes; 0: there will be none.
std::size_t Channel::receive_some(char* to, std::size_t bytes, const std::function<bool()>& goes_on) {
  for (;;) {
    iovec part = {.iov_base = to, .iov_len = bytes};
    Control control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    const bool is_early = got < 0 && errno == EAGAIN;
    if (is_early && goes_on && !goes_on()) return 0;
    if (is_early || (got < 0 && errno == EINTR)) continue;
    if (got <= 0) return 0;
    if (UniqueFd found = descriptor_in(message)) received_fd_ = std::move(found);
    return static_cast<std::size_t>(got);
  }
}

/// From what is there already, and more where that ends.
bool Channel::receive_bytes(char* to, std::size_t bytes, const std::function<bool()>& goes_on) {
  const std::size_t there = std::min(bytes, there_ - taken_);
  std::copy_n(received_.data() + taken_, there, to);
  taken_ += there;
  for (std::size_t done = there; done < bytes;) {
    const std::size_t got = receive_some(to + done, bytes - done, goes_on);
    if (got == 0) return false;
    done += got;
  }
  return true;
}

std::optional<Message> Channel::receive(const std::function<bool()>& goes_on) {
  if (goes_on && !std::exchange(is_timed_, true)) {
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &kSecond, sizeof kSecond);
  }
  if (taken_ == there_) {
    received_.resize(kSmallBytes);
    taken_ = 0;
    there_ = receive_some(received_.data(), received_.size(), goes_on);
    if (there_ == 0) return std::nullopt;
  }
  Header header;
  Message message;
  if (!receive_bytes(reinterpret_cast<char*>(&header), sizeof header, goes_on)) return std::nullopt;
  if (header.bytes > kMaxBodyBytes) return std::nullopt;
  message.kind = header.kind;
  message.body.resize(header.bytes);
  if (!receive_bytes(message.body.data(), header.bytes, goes_on)) return std::nullopt;
  // One receive ends after a descriptor, which therefore belongs to the last message (unix(7), SCM_RIGHTS).
  if (taken_ == there_) message.fd = std::move(received_fd_);
  return message;
}

}  // namespace hawk
