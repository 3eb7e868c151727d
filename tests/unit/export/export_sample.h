#pragma once

#include <cstdint>

#include "tests/unit/report/sample_snapshots.h"

namespace hawk {

/// A bit of everything that formats for other tools must cope with: inlined calls, recursion, code without symbols and
/// in no file, names of any bytes and in the syntax of every format, blocks without a stack, a truncated stack, stacks
/// of the same names, and one of which everything is freed.
Sample export_sample();

/// `stacks` stacks of 20 to 60 calls, as programs have them: most share their outer calls with others.
Sample large_sample(std::uint32_t stacks);

}  // namespace hawk
