#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "userspace/code/branch_targets.h"
#include "userspace/code/function_walk.h"

namespace hawk {

/// The functions of which an STT_GNU_IFUNC symbol's resolver picks one when the program starts, as virtual addresses,
/// sorted: every address that it can return. nullopt when its code does not show all of them.
std::optional<std::vector<std::uint64_t>> ifunc_candidates(BranchTargets& resolver, FunctionExtent ifunc);

}  // namespace hawk
