#pragma once

#include <string_view>

#include "userspace/base/result.h"

namespace hawk {

/// Something that hawktrace can be asked to do. Its file has its options' meaning and its narrative.
struct Command {
  const char* name;  ///< the first word on the command line
  /// Reads the whole command line and does what it says. Returns the exit status.
  Result<int> (*run)(int argc, const char* const* argv);
};

/// The one that the command line names, or the one that needs no name: to trace a process.
const Command& find_command(int argc, const char* const* argv);

/// Prints the answer to --help or --version. A reader that went away has seen what it wanted.
Result<int> print_info(std::string_view text);

}  // namespace hawk
