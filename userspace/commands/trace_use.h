#pragma once

#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/traced_processes.h"
#include "userspace/launch/signal_relay.h"

namespace hawk {

/// How a command uses the numbers of traces. Its functions are called in this order.
class TraceUse {
 public:
  virtual ~TraceUse() = default;

  /// Opens what will be written, so that a destination that cannot be is found out before the trace. Nothing is
  /// started.
  virtual Result<void> open() { return {}; }
  /// Every probe is in place, and nothing is counted yet.
  virtual Result<void> open_for(const Traces& /*traces*/) { return {}; }
  /// Whether a line is to say that the trace has begun.
  virtual bool wants_notice() const { return true; }
  /// Whether finish() needs the names of functions.
  virtual bool wants_names() const = 0;
  /// Waits for the end of the traces (run_trace_loop), and returns whether the user has ended them.
  virtual Result<bool> watch(TracedProcesses& traced, SignalSource& signals, SignalRelay* relay) = 0;
  /// No probe is left: `last` has what was counted, in the order of the traces.
  virtual Result<void> finish(const Traces& traces, const std::vector<Snapshot>& last) = 0;
};

}  // namespace hawk
