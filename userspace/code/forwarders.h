#pragma once

#include <cstdint>
#include <set>

#include "userspace/code/allocator_candidates.h"

namespace hawk {

/// Whether every path from the function's entry to a return leads through a call of another candidate or of a function
/// of the catalogue, paths on which a free's pointer is null aside.
bool is_forwarder(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate);

/// The same, where the call may also be made by functions of the file that are called in between.
bool always_forwards(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate);

/// Whether all that the function does to blocks it has done by functions that are followed, or counted themselves: it
/// calls nothing else in this file, which an allocator cannot do without, however much of it is inlined.
bool is_wrapper(BranchTargets& resolver, const Candidates& candidates, const std::set<std::uint64_t>& harmless,
                const Candidate& candidate);

}  // namespace hawk
