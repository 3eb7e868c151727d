#pragma once

#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// "traps: each malloc pays about 1.1 µs, each free about 0.68 µs": what tracing costs on the machine of the snapshot.
/// Of several allocators the dearest counts. Empty when it was not measured.
std::string trap_costs_text(const Snapshot& snapshot);

}  // namespace hawk
