#pragma once

#include "userspace/base/log.h"
#include "userspace/base/result.h"
#include "userspace/commands/command_line.h"
#include "userspace/daemon/daemon.h"

namespace hawk {

/// What the user asked for of the daemon.
struct DaemonCommandOptions : DaemonOptions {
  Verbosity verbosity = Verbosity::kNormal;
};

/// `hawktrace daemon`: traces the targets of a configuration until it is asked to end.
Result<int> daemon_command(int argc, const char* const* argv);

/// The text about the command, and its options, which set `options`.
const CommandText& daemon_text();
OptionRows daemon_rows(DaemonCommandOptions& options);

}  // namespace hawk
