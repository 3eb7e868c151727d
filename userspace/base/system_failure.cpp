#include "userspace/base/system_failure.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace hawk {
namespace {

/// How to raise the limit that was reached; nullptr: none was.
const char* remedy_for_shortage(int error) {
  switch (error) {
    case EMFILE:
      return "raise the limit of open files of this shell or service: ulimit -n 65536, or LimitNOFILE=";
    case ENFILE:
      return "the machine has no more open files: raise fs.file-max with sysctl";
    case ENOMEM:
      return "free some memory, or raise the limit of this shell or cgroup";
    default:
      return nullptr;
  }
}

}  // namespace

tl::unexpected<Error> system_failure(ExitCode exit_code, const std::string& what, int error, std::string hint) {
  const char* const remedy = remedy_for_shortage(error);
  return fail(remedy != nullptr ? ExitCode::kPrivilege : exit_code, fmt::format("{}: {}", what, std::strerror(error)),
              remedy != nullptr ? remedy : std::move(hint));
}

}  // namespace hawk
