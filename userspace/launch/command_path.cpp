#include "userspace/launch/command_path.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace hawk {

std::vector<std::string> command_candidates(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name};
  if (name.empty()) return {};
  const char* path = std::getenv("PATH");
  // What glibc's execvp falls back to.
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  std::vector<std::string> candidates;
  for (;;) {
    const std::size_t length = std::min(rest.find(':'), rest.size());
    // An empty element stands for the current directory.
    const std::string directory = length == 0 ? "." : std::string(rest.substr(0, length));
    candidates.push_back(fmt::format("{}/{}", directory, name));
    if (length == rest.size()) return candidates;
    rest.remove_prefix(length + 1);
  }
}

Result<std::string> find_command(const std::string& name) {
  bool exists = false;
  for (const std::string& candidate : command_candidates(name)) {
    struct stat status = {};
    if (::stat(candidate.c_str(), &status) != 0) continue;
    exists = true;
    if (S_ISREG(status.st_mode) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  if (exists) {
    return fail(ExitCode::kCannotExecute, fmt::format("run {}: not an executable file", name),
                fmt::format("allow it to be executed: chmod +x {}", name));
  }
  return fail(ExitCode::kNotFound, fmt::format("run {}: command not found", name),
              "check the spelling, and PATH under sudo");
}

}  // namespace hawk
