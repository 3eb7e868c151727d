#pragma once

#include <string>

#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"

namespace hawk {

/// Where the daemon answers unless its configuration says otherwise.
inline constexpr const char* kDefaultSocket = "/run/hawktrace/hawktrace.sock";

/// What the user asked for of the daemon's state.
struct StatusOptions {
  std::string socket = kDefaultSocket;
  bool json = false;
  Verbosity verbosity = Verbosity::kNormal;
};

/// `hawktrace status`: what the daemon does, target by target.
Result<int> status_command(int argc, const char* const* argv);
/// `hawktrace list`: the same, process by process.
Result<int> list_command(int argc, const char* const* argv);

/// The texts about the commands, and the options of both, which set `options`.
const CommandText& status_text();
const CommandText& list_text();
OptionRows status_rows(StatusOptions& options);

}  // namespace hawk
