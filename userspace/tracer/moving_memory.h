#pragma once

#include <string_view>

namespace hawk {

/// Whether the kernel may take pages away from a process that uses them, so that a program in a probe, which cannot
/// wait for them, would not find there what the process is about to read: it may swap them out (`swaps`, the content of
/// /proc/swaps, names something beside its heading), or unmap them to see which NUMA node uses them (`numa_balancing`,
/// of /proc/sys/kernel/numa_balancing, is not 0; empty: the kernel cannot).
bool may_move_memory(std::string_view swaps, std::string_view numa_balancing);

/// The same of this machine, as it is now. It may where that cannot be read.
bool may_move_memory();

}  // namespace hawk
