#include "userspace/study/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>

namespace hawk {
namespace {

/// In front of each body.
struct Header {
  std::uint32_t kind = 0;
  std::uint32_t bytes = 0;
};

/// Larger than anything that either end sends at once.
constexpr std::uint32_t kMaxBodyBytes = 64u << 20;
constexpr int kSecondMs = 1000;
constexpr timeval kSendLimit = {.tv_sec = 30, .tv_usec = 0};

/// Room for one descriptor.
union Control {
  cmsghdr header;
  char bytes[CMSG_SPACE(sizeof(int))];
};

/// Sends all of it; the descriptor goes with the first byte.
bool send_bytes(int socket, const void* bytes, std::size_t count, int fd) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    iovec part = {.iov_base = const_cast<char*>(next), .iov_len = count};
    Control control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
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
    next += sent;
    count -= static_cast<std::size_t>(sent);
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

/// False: the waiting was ended.
bool wait_for_bytes(int socket, const std::function<bool()>& goes_on) {
  if (!goes_on) return true;
  for (;;) {
    pollfd ready = {.fd = socket, .events = POLLIN, .revents = 0};
    const int count = ::poll(&ready, 1, kSecondMs);
    if (count > 0) return true;
    if (!goes_on()) return false;
  }
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
  return send_bytes(socket_.get(), &header, sizeof header, fd) &&
         send_bytes(socket_.get(), body.data(), body.size(), -1);
}

bool Channel::receive_bytes(char* to, std::size_t bytes, UniqueFd* fd, const std::function<bool()>& goes_on) {
  while (bytes > 0) {
    if (!wait_for_bytes(socket_.get(), goes_on)) return false;
    iovec part = {.iov_base = to, .iov_len = bytes};
    Control control = {};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    UniqueFd found = descriptor_in(message);
    if (fd != nullptr && found) *fd = std::move(found);
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::optional<Message> Channel::receive(const std::function<bool()>& goes_on) {
  Header header;
  Message message;
  if (!receive_bytes(reinterpret_cast<char*>(&header), sizeof header, &message.fd, goes_on)) return std::nullopt;
  if (header.bytes > kMaxBodyBytes) return std::nullopt;
  message.kind = header.kind;
  message.body.resize(header.bytes);
  if (!receive_bytes(message.body.data(), header.bytes, nullptr, goes_on)) return std::nullopt;
  return message;
}

}  // namespace hawk
