#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "userspace/attach/process_trace.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/trace_options.h"
#include "userspace/launch/signal_relay.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// Who is told of a trace while it goes on.
struct TraceWatchers {
  LiveScreen* screen = nullptr;                          ///< shows each state; nullptr: there is none
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: never because of the time
  /// Called after a drain, whenever a trigger of the options has gone off, SIGUSR1 has come, or it is time; in place of
  /// `interval`, where both are due. False ends the trace.
  std::function<Result<bool>(DumpCause)> dump = {};
  std::function<Result<void>()> interval = {};  ///< after each drain of the interval; empty: nothing is due
};

/// Drains at every interval until the target ends, the time is over, or the user has had enough.
///
/// With a command signals are taken by `relay`, and the trace goes on until the command ends or the relay asks for its
/// end; nullptr: any signal that ends things ends the trace.
///
/// Tells whether the user has ended it.
Result<bool> run_trace_loop(ProcessTrace& trace, const TraceOptions& options, SignalSource& signals, SignalRelay* relay,
                            const TraceWatchers& watchers);

}  // namespace hawk
