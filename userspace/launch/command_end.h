#pragma once

#include "userspace/base/signal_source.h"
#include "userspace/launch/launch.h"
#include "userspace/launch/signal_relay.h"

namespace hawk {

/// What becomes of the command when its trace is over and its report is written: a command that has ended gives its
/// status, as a shell gives it (128 + N for a death by signal N). One that goes on runs on, which is said, and the
/// status is 0; with `kill` it is ended by SIGTERM, or by SIGKILL where that is not enough. Signals that came for it
/// meanwhile are passed on.
int finish_command(LaunchedCommand& command, int pid_fd, bool kill, SignalSource& signals, SignalRelay& relay);

}  // namespace hawk
