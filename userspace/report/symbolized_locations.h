#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Called with how many addresses the symbolizer is going to be asked, before the first.
using LocationCountObserver = std::function<void(std::size_t count)>;

/// Takes what is known of a location: its calls, an inlined one before the function that it is inlined into; one
/// without names where nothing is known. The signal trampoline always has a name.
using LocationConsumer = std::function<void(LocationId location, std::vector<SourceFrame> sources)>;

/// Whether a location is the trampoline that a signal handler returns to, by LocationId: a frame that a signal
/// interrupted lies behind it. No call returns there, so that no other stack has it elsewhere. Empty when no stack was
/// interrupted.
std::vector<char> find_trampolines(const Snapshot& snapshot);
/// By which a Symbolizer finds a trampoline in a module: it is entered at its first instruction, which no call is
/// before.
inline std::uint64_t trampoline_offset(const Location& location) { return location.module_offset + 1; }

/// Asks `symbolizer` for every location that `stacks` pass through: each once, however many stacks do, and module by
/// module in ascending order, the order in which debug information lies in its file.
void symbolize_locations(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                         Symbolizer& symbolizer, const LocationCountObserver& observer,
                         const LocationConsumer& consumer);

}  // namespace hawk
