#include "userspace/base/process_file.h"

#include <fcntl.h>
#include <fmt/core.h>

#include <cerrno>
#include <utility>

#include "userspace/base/system_failure.h"

namespace hawk {

UniqueFd open_process_file(const std::string& path) { return open_process_file_at(AT_FDCWD, path); }

UniqueFd open_process_file_at(int directory, const std::string& path) {
  return UniqueFd(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC));
}

std::optional<std::string> read_to_end(int fd) {
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return content;
    content.append(buffer, static_cast<std::size_t>(got));
  }
}

Result<std::string> read_whole_file(const std::string& path, ExitCode exit_code) {
  const UniqueFd fd = open_process_file(path);
  if (!fd) return system_failure(exit_code, fmt::format("open {}", path), errno);
  std::optional<std::string> content = read_to_end(fd.get());
  if (!content) return system_failure(exit_code, fmt::format("read {}", path), errno);
  return std::move(*content);
}

}  // namespace hawk
