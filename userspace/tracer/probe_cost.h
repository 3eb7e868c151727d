#pragma once

#include <cstdint>
#include <thread>

#include "userspace/base/result.h"
#include "userspace/tracer/attach_way.h"

namespace hawk {

/// What a traced call pays on this machine for its traps alone, programs that return at once: nanoseconds of wall
/// clock.
struct ProbeCosts {
  std::uint64_t emulated_ns = 0;  ///< a probe on an instruction that the kernel emulates
  std::uint64_t stepped_ns = 0;   ///< on one that it has to single-step
  std::uint64_t return_ns = 0;    ///< more for a call whose return is probed too, by the kernel's return probe
};

/// Measures them: probes three small functions of hawktrace and calls them several hundred times. kPrivilege when the
/// kernel refuses. The calls take some 6 ms. `detaching` then waits for the kernel's grace periods: 60 ms for links,
/// 400 ms for perf events. Both can run concurrently with anything else.
Result<ProbeCosts> measure_probe_costs(AttachWay way, std::jthread& detaching);

}  // namespace hawk
