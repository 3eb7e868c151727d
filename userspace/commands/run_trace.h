#pragma once

#include "userspace/base/result.h"
#include "userspace/commands/trace_options.h"
#include "userspace/commands/trace_use.h"

namespace hawk {

/// Runs a trace with the given options, from its first probe to its last number. Returns the exit status.
Result<int> run_trace(const TraceOptions& options, TraceUse& use);

}  // namespace hawk
