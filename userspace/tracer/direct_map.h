#pragma once

#include "bpf/layout.h"

namespace hawk {

/// Lets the programs search for the direct map, by the program find_direct_map. Without it tracing works too, but costs
/// more.
void find_direct_map(int program_fd, hawk_state& state);

}  // namespace hawk
