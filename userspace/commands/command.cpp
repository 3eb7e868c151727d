#include "userspace/commands/command.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "userspace/base/system_failure.h"
#include "userspace/base/write_all.h"
#include "userspace/commands/trace.h"

namespace hawk {
namespace {

/// A command is one file and one row. The first needs no name, and has none yet.
constexpr Command kCommands[] = {
    {"", trace_command},
};

}  // namespace

const Command& find_command(int argc, const char* const* argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  for (const Command& command : kCommands) {
    if (command.name == word) return command;
  }
  return kCommands[0];
}

Result<int> print_info(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0 || error == EPIPE) return static_cast<int>(ExitCode::kOk);
  return system_failure(ExitCode::kFile, "write to stdout", error);
}

}  // namespace hawk
