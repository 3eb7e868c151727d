#pragma once

#include <cstdint>
#include <set>

#include "userspace/code/allocator_candidates.h"

namespace hawk {

/// The C++ operators and freeing functions, by where they begin, that need no probe: every path from the entry to a
/// return leads through a call of another candidate or of a function of the catalogue, paths on which a free's pointer
/// is null aside. What frees passes on the very block, unless that is an operator delete where no operator new is
/// probed either: who puts a header before its blocks passes on another one.
std::set<std::uint64_t> find_forwarders(BranchTargets& resolver, const Candidates& candidates);

/// The same, where the call may also be made by functions of the file that are called in between.
bool always_forwards(BranchTargets& resolver, const Candidates& candidates, const Candidate& candidate);

/// Whether all that the function does to blocks it has done by functions that are followed, or counted themselves: it
/// calls nothing else in this file, which an allocator cannot do without, however much of it is inlined.
bool is_wrapper(BranchTargets& resolver, const Candidates& candidates, const std::set<std::uint64_t>& harmless,
                const Candidate& candidate);

}  // namespace hawk
