#pragma once

#include <optional>

#include "userspace/daemon/target_state.h"

namespace hawk {

/// Samples the memory of a target's processes, and of their cgroup, if it is time to. What its watch finds in it is
/// returned if the target is one that is watched, and not traced already.
std::optional<WatchFinding> sample_if_due(TargetState& target, TargetState::Time now);

}  // namespace hawk
