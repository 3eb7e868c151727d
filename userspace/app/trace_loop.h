#pragma once

#include <chrono>
#include <optional>

#include "userspace/app/live_screen.h"
#include "userspace/app/options.h"
#include "userspace/app/session.h"
#include "userspace/app/signals.h"

namespace hawk {

/// Drains at every interval until the target ends, the time is over, or the user has had enough. Shows each state on
/// `screen` if there is one.
///
/// With a command, signals are for it: those sent to us are passed on, Ctrl-C reaches it from the terminal anyway, and
/// the trace goes on until it ends. A second Ctrl-C ends the trace at once.
///
/// Tells whether the user has ended it.
Result<bool> run_trace_loop(Session& session, const Options& options, SignalSource& signals, LiveScreen* screen);

}  // namespace hawk
