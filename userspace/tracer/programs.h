#pragma once

#include <linux/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "bpf/layout.h"
#include "bpf/probe_points.h"
#include "hawktrace.skel.h"
#include "userspace/base/owned.h"
#include "userspace/base/result.h"
#include "userspace/tracer/engine.h"
#include "userspace/tracer/kernel_types.h"
#include "userspace/tracer/live_table.h"
#include "userspace/tracer/memory_plan.h"
#include "userspace/tracer/waiting_program.h"

namespace hawk {

/// The programs and maps in the kernel, as bpftool lays them out.
using Skeleton = std::unique_ptr<hawktrace, Freer<hawktrace::destroy>>;

/// The memory of the programs' variables that begin as zero, as libbpf has mapped it.
std::span<std::byte> memory_of_zeros(const hawktrace& skeleton);

/// What is done with the maps as soon as they and the programs' variables are there, which is before the programs are,
/// or while they are loaded. nullptr: they are about to go.
using UseMaps = std::function<Result<void>(hawktrace*)>;

/// Loads what every trace needs that is attached as `options` say; what may not be needed is put into `later`.
Result<Skeleton> load_programs(const EngineOptions& options, LiveTable table, const MemoryPlan& plan,
                               const KernelTypes& types, LaterPrograms& later, const UseMaps& use_maps);

/// Loads the programs for functions that may throw, which use the maps of `first`. Apart from the others because under
/// sessions only they need them, few processes have such functions, and the kernel takes as long to check them as it
/// takes for all the rest.
Result<Skeleton> load_throwing_programs(const hawktrace& first);

/// Loads the program for sessions, for the same reason: by points, few processes have functions that need one.
Result<Skeleton> load_session_program(const hawktrace& first);

}  // namespace hawk
