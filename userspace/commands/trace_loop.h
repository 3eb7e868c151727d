#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "userspace/base/signal_source.h"
#include "userspace/commands/trace_options.h"
#include "userspace/commands/trace_use.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// Who is told of traces while they go on.
struct TraceWatchers {
  LiveScreen* screen = nullptr;                          ///< shows each state of the first; nullptr: there is none
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: never because of the time
  /// Called after a drain, whenever a trigger of the options has gone off, SIGUSR1 has come, or it is time; in place of
  /// `interval`, where both are due. False ends the traces.
  std::function<Result<bool>(ProcessTrace&, DumpCause)> dump = {};
  /// Called after each drain of the interval; empty: nothing is due.
  std::function<Result<void>(ProcessTrace&)> interval = {};
  /// Called after the end of a trace whose process has ended, while others go on; empty: nothing is due.
  std::function<Result<void>(ProcessTrace&)> ended = {};
};

/// Drains at every interval until the targets end, the time is over, or the user has had enough. A trace whose process
/// ends before the last one is ended then.
///
/// With a command signals are taken by `relay`, and the trace goes on until the command ends or the relay asks for its
/// end; nullptr: any signal that ends things ends the traces.
///
/// Tells whether the user has ended them.
Result<bool> run_trace_loop(const Traces& traces, const TraceOptions& options, SignalSource& signals,
                            SignalRelay* relay, const TraceWatchers& watchers);

}  // namespace hawk
