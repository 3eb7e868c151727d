#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "userspace/base/signal_source.h"
#include "userspace/commands/trace_options.h"
#include "userspace/commands/trace_use.h"
#include "userspace/commands/traced_heap.h"
#include "userspace/screen/live_screen.h"

namespace hawk {

/// What is called while traces go on.
struct TraceWatchers {
  LiveScreen* screen = nullptr;                          ///< shows each state; nullptr: there is none
  std::optional<std::chrono::nanoseconds> report_every;  ///< nullopt: never because of the time
  /// Called after a drain of all, when a trigger of the options has fired, SIGUSR1 has arrived, or the report is due;
  /// instead of `interval` if both are due. False ends the traces.
  std::function<Result<bool>(DumpCause)> dump = {};
  /// Called after each drain of all of the interval; empty: nothing is due.
  std::function<Result<void>()> interval = {};
  /// Called after the end of a trace whose process has ended, while others go on; empty: nothing is due.
  std::function<Result<void>(ProcessTrace&)> ended = {};
};

/// Drains at every interval until the targets end, the time limit is reached, or the user ends the trace. The trace of
/// a process that ends before the last one is ended then. Processes that begin to match are traced from then on.
/// Triggers apply to the sums over all processes.
///
/// With a command signals are taken by `relay`, and the trace continues until the command ends or the relay requests
/// the end; nullptr: any terminating signal ends the traces.
///
/// Returns whether the user has ended them. `heap`: that of the same traces.
Result<bool> run_trace_loop(TracedProcesses& traced, TracedHeap& heap, const TraceOptions& options,
                            SignalSource& signals, SignalRelay* relay, const TraceWatchers& watchers);

}  // namespace hawk
