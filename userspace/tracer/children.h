#pragma once

#include "bpf/layout.h"
#include "userspace/tables/children.h"

namespace hawk {

/// What the programs know of the processes that the target has started. `programs_fd`: the map child_programs.
UntracedChildren read_children(int programs_fd, const hawk_state& state);

}  // namespace hawk
