#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <string_view>

namespace hawk {

/// The address of a unix socket.
class UnixAddress {
 public:
  /// Of the socket at this path; with '@' in front, of the abstract one of this name. nullopt: it is empty, or longer
  /// than kLongestPath.
  static std::optional<UnixAddress> of(std::string_view path);

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  socklen_t length() const { return length_; }

  static constexpr std::size_t kLongestPath = sizeof(sockaddr_un::sun_path) - 1;

 private:
  UnixAddress() = default;

  sockaddr_un address_ = {};
  socklen_t length_ = 0;
};

}  // namespace hawk
