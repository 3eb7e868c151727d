#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/scratch_directory.h"

namespace hawk {

// A copy of libc, which the tests that run at the same time do not probe. Their probes change which breakpoints a
// process has:
// - Where another tracer places probes in all processes, breakpoints that a process has lost are there again, in
//   libc's code as the file has it. Those of the tracer that has missed them as well: it looks too late (README,
//   Limits).
// - When the kernel removes another tracer's probe from a file, it looks at every process that has it mapped; one that
//   fork has just made does not count as traced for a moment (perf_event_init_task comes before copy_mm,
//   kernel/fork.c) and can lose the breakpoint that it has copied. hawktrace counts that (missing_breakpoints),
//   rightly: seen beside other tests in 1 of some 50,000 forks.

/// The environment in which programs use a copy of libc in the directory.
std::map<std::string, std::string> with_own_libc(const ScratchDirectory& directory);

/// A command that runs another with the copy in the usual place of libc, where programs of other users find it, too.
std::vector<std::string> beside_own_libc(const ScratchDirectory& directory, std::vector<std::string> command);

}  // namespace hawk
