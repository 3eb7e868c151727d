#pragma once

#include <span>
#include <string_view>

#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"

namespace hawk {

/// A command of hawktrace. Its file contains its options and its steps.
struct Command {
  const char* word;  ///< the first one on the command line; empty: it needs none
  const CommandText& (*text)();
  OptionRows (*rows)();  ///< for --help and the man page: they set nothing
  /// Parses the whole command line and executes the command. Returns the exit status.
  Result<int> (*run)(int argc, const char* const* argv);

  /// Whether it may start a command (-- COMMAND), whose exit statuses hawktrace's own are distinguished from.
  bool starts_commands() const { return !text().command_exits.empty(); }
};

/// All of them, the one that needs no name first.
std::span<const Command> commands();

/// The one that the command line names, or the one that needs no name: to trace a process.
const Command& find_command(int argc, const char* const* argv);

/// Prints the answer to --help or --version. A closed pipe is not an error.
Result<int> print_info(std::string_view text);

}  // namespace hawk
