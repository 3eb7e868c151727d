#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "userspace/attach/process_trace.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/options.h"
#include "userspace/launch/signal_relay.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// Drains at every interval until the target ends, the time is over, or the user has had enough. Shows each state on
/// `screen` if there is one.
///
/// With a command signals are taken by `relay`, and the trace goes on until the command ends or the relay asks for its
/// end; nullptr: any signal that ends things ends the trace.
///
/// With --report-every `report` is called after a drain each time; it ends the trace by false.
///
/// Tells whether the user has ended it.
Result<bool> run_trace_loop(ProcessTrace& trace, const Options& options, SignalSource& signals, SignalRelay* relay,
                            LiveScreen* screen, const std::function<Result<bool>()>& report);

}  // namespace hawk
