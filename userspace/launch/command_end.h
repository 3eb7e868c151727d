#pragma once

#include "userspace/base/signal_source.h"
#include "userspace/launch/launch.h"
#include "userspace/launch/signal_relay.h"

namespace hawk {

/// The command after its trace has ended and its report is written. If it has ended, its status is returned as by a
/// shell (128 + N if signal N ended it). If it is running, it continues, a message says so, and the status is 0; with
/// `kill` it is ended by SIGTERM, or by SIGKILL if necessary. Signals for it that have arrived in the meantime are
/// passed on.
int finish_command(LaunchedCommand& command, int pid_fd, bool kill, SignalSource& signals, SignalRelay& relay);

}  // namespace hawk
