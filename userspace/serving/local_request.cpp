#include "userspace/serving/local_request.h"

#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

constexpr timeval kPatience = {.tv_sec = 10, .tv_usec = 0};
constexpr const char* kHint =
    "is it running (systemctl status hawktrace)? Where it listens is in its configuration: listen in [serve]";

tl::unexpected<Error> no_answer(const std::string& path, const std::string& why) {
  return fail(ExitCode::kFile, fmt::format("ask the daemon at {}: {}", path, why));
}

Result<UniqueFd> connected_to(const std::string& path) {
  const std::optional<UnixAddress> address = UnixAddress::of(path);
  if (!address) return no_answer(path, "the path is too long for a socket");
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return system_failure(ExitCode::kPrivilege, "make a socket", errno);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof(kPatience));
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof(kPatience));
  if (::connect(socket.get(), address->get(), address->length()) == 0) return socket;
  const int error = errno;
  const bool is_none = error == ENOENT || error == ECONNREFUSED;
  return system_failure(is_none ? ExitCode::kNoTarget : ExitCode::kPrivilege, "ask the daemon at " + path, error,
                        is_none ? kHint : "");
}

}  // namespace

Result<std::string> get_over_socket(const std::string& path, const std::string& what) {
  const UniqueFd socket = HAWK_TRY(connected_to(path));
  const std::string request = fmt::format("GET {} HTTP/1.0\r\n\r\n", what);
  if (::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) {
    return no_answer(path, std::strerror(errno));
  }
  std::string answer;
  std::array<char, 16 * 1024> piece;
  ssize_t count = 0;
  while ((count = ::recv(socket.get(), piece.data(), piece.size(), 0)) > 0) {
    answer.append(piece.data(), static_cast<std::size_t>(count));
  }
  if (count < 0) return no_answer(path, errno == EAGAIN ? "it does not answer" : std::strerror(errno));
  const std::size_t head_end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.1 ") || head_end == std::string::npos) return no_answer(path, "that is no answer");
  std::string body = answer.substr(head_end + 4);
  if (!answer.starts_with("HTTP/1.1 200 ")) return no_answer(path, body.substr(0, body.find('\n')));
  return body;
}

}  // namespace hawk
