#pragma once

#include <cerrno>
#include <string>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// What the shell is for execvp: the program that runs a file without #! line that is no ELF file either.
inline constexpr const char* kShell = "/bin/sh";

/// The paths that execvp would try for `name`, in this order: itself when it has a slash, else through PATH.
std::vector<std::string> command_candidates(const std::string& name);
/// The first of them that is a file and executable for us; kNotFound or kCannotExecute when there is none.
Result<std::string> find_command(const std::string& name);

/// What it means that execve of a command failed with `error`.
inline ExitCode exec_failure(int error) { return error == ENOENT ? ExitCode::kNotFound : ExitCode::kCannotExecute; }

}  // namespace hawk
