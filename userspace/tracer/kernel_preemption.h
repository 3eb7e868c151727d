#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "userspace/tracer/kernel_code.h"

namespace hawk {

/// KernelCodeReader::read, or what a test has in its place.
using ReadKernelCode = std::function<std::optional<KernelCode>(std::string_view name)>;

/// Whether the kernel may take the processor away from a thread that is at work in the kernel, without having been
/// asked to: "full" and "lazy" preemption, as opposed to "none" and "voluntary". A kernel with PREEMPT_DYNAMIC can be
/// switched from one to the other while it runs, by code that it changes, and says which it has only where debugfs may
/// be read; so the code is looked at (kernel/sched/core.c, sched_dynamic_update). True if it cannot be known.
bool kernel_preempts_itself(const ReadKernelCode& read);

}  // namespace hawk
