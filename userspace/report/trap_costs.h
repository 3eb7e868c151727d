#pragma once

#include <string>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// "tracing overhead: about 1.1 µs per malloc, 0.68 µs per free": what tracing costs on the machine of the snapshot.
/// Of several allocators the dearest counts. Empty when it was not measured.
std::string trap_costs_text(const Snapshot& snapshot);

}  // namespace hawk
