#pragma once

#include "userspace/attach/process_trace.h"
#include "userspace/base/result.h"
#include "userspace/base/signal_source.h"
#include "userspace/commands/trace_options.h"
#include "userspace/launch/signal_relay.h"

namespace hawk {

/// What a command makes of the numbers of a trace. Its functions are called in this order.
class TraceUse {
 public:
  virtual ~TraceUse() = default;

  /// Opens what will be written, so that a destination that cannot be is found out before the trace. Nothing is
  /// started.
  virtual Result<void> open() { return {}; }
  /// Every probe is in place, and nothing is counted yet.
  virtual Result<void> open_for(ProcessTrace& /*trace*/) { return {}; }
  /// Whether a line is to say that the trace has begun.
  virtual bool wants_notice() const { return true; }
  /// Whether finish() asks for the names of functions.
  virtual bool wants_names() const = 0;
  /// Waits for the end of the trace (run_trace_loop), and tells whether the user has ended it.
  virtual Result<bool> watch(ProcessTrace& trace, SignalSource& signals, SignalRelay* relay) = 0;
  /// No probe is left: `last` is what was counted.
  virtual Result<void> finish(ProcessTrace& trace, const Snapshot& last) = 0;
};

/// Traces what the options say, from its first probe to its last number. Returns the exit status.
Result<int> run_trace(const TraceOptions& options, TraceUse& use);

}  // namespace hawk
