#include "userspace/base/unix_address.h"

#include <cstring>

namespace hawk {

std::optional<UnixAddress> UnixAddress::of(std::string_view path) {
  if (path.empty() || path.size() > kLongestPath) return std::nullopt;
  const bool is_abstract = path.front() == '@';
  UnixAddress address;
  address.address_.sun_family = AF_UNIX;
  std::memcpy(address.address_.sun_path, path.data(), path.size());
  if (is_abstract) address.address_.sun_path[0] = '\0';
  // A path ends with a zero byte; an abstract name has all bytes of the length.
  address.length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + (is_abstract ? 0 : 1));
  return address;
}

}  // namespace hawk
