#include "userspace/serving/listen_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/base/unix_address.h"

namespace hawk {
namespace {

constexpr int kBacklog = 128;
constexpr std::string_view kUnixPrefix = "unix:";

struct SocketAddress {
  sockaddr_storage bytes = {};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&bytes); }
  int family() const { return bytes.ss_family; }
};

std::optional<SocketAddress> socket_address(const std::string& host, std::uint16_t port) {
  SocketAddress address;
  auto* ipv4 = reinterpret_cast<sockaddr_in*>(&address.bytes);
  if (::inet_pton(AF_INET, host.c_str(), &ipv4->sin_addr) == 1) {
    ipv4->sin_family = AF_INET;
    ipv4->sin_port = htons(port);
    address.length = sizeof(sockaddr_in);
    return address;
  }
  auto* ipv6 = reinterpret_cast<sockaddr_in6*>(&address.bytes);
  if (::inet_pton(AF_INET6, host.c_str(), &ipv6->sin6_addr) != 1) return std::nullopt;
  ipv6->sin6_family = AF_INET6;
  ipv6->sin6_port = htons(port);
  address.length = sizeof(sockaddr_in6);
  return address;
}

/// Of a path that parse_listen_address() has taken.
SocketAddress unix_address(const std::string& path) {
  const UnixAddress at = *UnixAddress::of(path);
  SocketAddress address = {.length = at.length()};
  std::memcpy(&address.bytes, at.get(), at.length());
  return address;
}

tl::unexpected<Error> malformed(const std::string& text) {
  return fail(ExitCode::kUsage, fmt::format("listen: '{}' is not an address", text),
              "an address and a port, such as 127.0.0.1:9817 or [::1]:9817, or unix: and the path of a socket");
}

Result<UniqueFd> bound_socket(const SocketAddress& address, const std::string& text) {
  UniqueFd socket(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int on = 1;
  if (!socket) return system_failure(ExitCode::kPrivilege, "listen: make a socket", errno);
  if (address.family() == AF_UNIX) {
    // The file gets what the socket has.
    ::fchmod(socket.get(), S_IRUSR | S_IWUSR);
  } else {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  }
  if (address.family() == AF_INET6) ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
  if (::bind(socket.get(), address.get(), address.length) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    const int error = errno;
    return system_failure(ExitCode::kFile, "listen at " + text, error,
                          error == EADDRINUSE ? "another program listens there: choose another address" : "");
  }
  return socket;
}

/// Whether no server listens at the socket that is there.
bool is_left_behind(const SocketAddress& address) {
  const UniqueFd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  return probe && ::connect(probe.get(), address.get(), address.length) != 0 && errno == ECONNREFUSED;
}

Result<Listener> listen_at_path(const ListenAddress& address) {
  const std::string text = "unix:" + address.unix_path;
  const SocketAddress at = unix_address(address.unix_path);
  struct stat state {};
  const bool is_socket = ::lstat(address.unix_path.c_str(), &state) == 0 && S_ISSOCK(state.st_mode);
  if (is_socket && is_left_behind(at)) ::unlink(address.unix_path.c_str());
  UniqueFd socket = HAWK_TRY(bound_socket(at, text));
  return Listener{address, std::move(socket), text};
}

std::uint16_t port_of(const UniqueFd& socket) {
  sockaddr_storage bytes = {};
  socklen_t length = sizeof(bytes);
  ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bytes), &length);
  return ntohs(bytes.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&bytes)->sin6_port
                                           : reinterpret_cast<const sockaddr_in*>(&bytes)->sin_port);
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

}  // namespace

bool ListenAddress::is_local() const { return is_unix() || host.starts_with("127.") || host == "::1"; }

Result<ListenAddress> parse_listen_address(const std::string& text) {
  if (text.starts_with(kUnixPrefix)) {
    const std::string path = text.substr(kUnixPrefix.size());
    if (!path.starts_with('/') || path.find('\0') != std::string::npos) return malformed(text);
    if (path.size() > UnixAddress::kLongestPath) {
      return fail(ExitCode::kUsage, fmt::format("listen: {}: a path for a socket is at most {} bytes long", path,
                                                UnixAddress::kLongestPath));
    }
    return ListenAddress{.unix_path = path};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return malformed(text);
  ListenAddress address = {.host = text.substr(0, colon)};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  } else if (address.host.find(':') != std::string::npos) {
    return malformed(text);
  }
  if (address.host == "localhost") address.host = "127.0.0.1";
  const std::string_view port = std::string_view(text).substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) return malformed(text);
  if (!socket_address(address.host, address.port)) return malformed(text);
  return address;
}

Result<Listener> listen_at(const ListenAddress& address) {
  if (address.is_unix()) return listen_at_path(address);
  const std::string text = host_and_port(address.host, address.port);
  UniqueFd socket = HAWK_TRY(bound_socket(*socket_address(address.host, address.port), text));
  const std::uint16_t port = port_of(socket);
  return Listener{address, std::move(socket), host_and_port(address.host, port)};
}

void remove_socket(const Listener& listener) {
  // The number of a bound socket's file is not to be had from its descriptor: what listens there is asked for.
  if (!listener.address.is_unix()) return;
  if (is_left_behind(unix_address(listener.address.unix_path))) ::unlink(listener.address.unix_path.c_str());
}

}  // namespace hawk
