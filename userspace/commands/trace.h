#pragma once

#include "userspace/base/result.h"

namespace hawk {

/// `hawktrace -p PID`, `hawktrace -- COMMAND`: traces one process until something ends the trace, and reports.
Result<int> trace_command(int argc, const char* const* argv);

}  // namespace hawk
