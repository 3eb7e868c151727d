#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "userspace/report/units.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// "tracing overhead: about 1.1 µs per malloc, 0.68 µs per free": what tracing costs on the machine of the snapshot.
/// Of several allocators the dearest counts. Empty when it was not measured.
std::string trap_costs_text(const Snapshot& snapshot);

/// "traps: malloc at +0x157 97.2 %, at +0xf2 2.8 %; calloc at +0x1c (size), at +0x90 100 %; at entry and return:
/// realloc": inside which functions calls were seen, and which share of those of a function at which points. Empty:
/// points were not requested.
std::string trap_points_text(const Snapshot& snapshot);

/// What all traps of the trace took together at least, in nanoseconds: calls x what a call of the cheapest function
/// pays. The work of hawktrace's programs, which is not measured, comes on top. nullopt: not measured, or of a program
/// that is no more.
std::optional<std::uint64_t> trap_time_ns(const Snapshot& snapshot);

/// "hawktrace took 0.34 s of CPU and at most 45.20 MiB; the kernel's tables take 12.30 MiB". Empty: not known.
std::string usage_text(const Snapshot& snapshot, NumberStyle style);

}  // namespace hawk
