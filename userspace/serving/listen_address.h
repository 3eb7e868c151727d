#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// Where a server listens.
struct ListenAddress {
  std::string unix_path = {};  ///< empty: host and port
  std::string host = {};       ///< an address in figures
  std::uint16_t port = 0;      ///< 0: one that is free

  bool is_unix() const { return !unix_path.empty(); }
  /// Whether only this host's own processes can reach it.
  bool is_local() const;
  bool operator==(const ListenAddress&) const = default;
};

/// "unix:/run/x.sock", "127.0.0.1:9817", "[::1]:9817", "localhost:9817".
Result<ListenAddress> parse_listen_address(const std::string& text);

/// A socket that listens there, and who it belongs to.
struct Listener {
  ListenAddress address;
  UniqueFd socket;
  std::string text;  ///< as it can be typed, with the port that it has got
};

/// A unix socket is this user's alone; one that a server which has gone has left behind is replaced.
Result<Listener> listen_at(const ListenAddress& address);
/// Removes the unix socket, unless another server has taken its place.
void remove_socket(const Listener& listener);

}  // namespace hawk
