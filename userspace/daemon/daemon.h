#pragma once

#include <string>

#include "userspace/base/result.h"

namespace hawk {

/// What the daemon is started with.
struct DaemonOptions {
  std::string config_path;  ///< empty: there is none
  std::string unit;         ///< the only target, in place of those of the configuration; empty: those are
};

/// Watches and traces the targets of a configuration until SIGTERM or SIGINT; SIGHUP has it read again. Returns the
/// exit status.
Result<int> run_daemon(const DaemonOptions& options);

}  // namespace hawk
