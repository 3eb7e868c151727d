#include "userspace/base/process_file.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace hawk {

UniqueFd open_process_file(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

Result<std::string> read_whole_file(const std::string& path, ExitCode exit_code) {
  const UniqueFd fd = open_process_file(path);
  if (!fd) return fail(exit_code, fmt::format("open {}: {}", path, std::strerror(errno)));
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(exit_code, fmt::format("read {}: {}", path, std::strerror(errno)));
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

}  // namespace hawk
