#pragma once

#include <cstdint>

#include "bpf/layout.h"
#include "userspace/tables/children.h"

namespace hawk {

/// The data of the BPF programs about the processes that the target at `index` has started. `programs_fd`: the map
/// child_programs.
UntracedChildren read_children(int programs_fd, const hawk_target& target, std::uint32_t index);
/// Removes all data about them: another target gets the slot.
void forget_children(int programs_fd, std::uint32_t index);

}  // namespace hawk
