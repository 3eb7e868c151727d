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
  /// Called after a drain of all, whenever a trigger of the options has gone off, SIGUSR1 has come, or it is time; in
  /// place of `interval`, where both are due. False ends the traces.
  std::function<Result<bool>(DumpCause)> dump = {};
  /// Called after each drain of all of the interval; empty: nothing is due.
  std::function<Result<void>()> interval = {};
  /// Called after the end of a trace whose process has ended, while others go on; empty: nothing is due.
  std::function<Result<void>(ProcessTrace&)> ended = {};
};

/// Drains at every interval until the targets end, the time is over, or the user has had enough. A trace whose process
/// ends before the last one is ended then. Processes that begin to be what was chosen are traced from then on. Triggers
/// are of the sums over all processes.
///
/// With a command signals are taken by `relay`, and the trace goes on until the command ends or the relay asks for its
/// end; nullptr: any signal that ends things ends the traces.
///
/// Returns whether the user has ended them. `heap`: of the same traces.
Result<bool> run_trace_loop(TracedProcesses& traced, TracedHeap& heap, const TraceOptions& options,
                            SignalSource& signals, SignalRelay* relay, const TraceWatchers& watchers);

}  // namespace hawk
