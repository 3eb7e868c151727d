#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Told how many addresses the symbolizer is going to be asked, before the first.
using LocationCountObserver = std::function<void(std::size_t count)>;

/// Takes what is known of a location: its calls, an inlined one before the function that it is inlined into; one
/// without names where nothing is known. The signal trampoline always has a name.
using LocationConsumer = std::function<void(LocationId location, std::vector<SourceFrame> sources)>;

/// Asks `symbolizer` for every location that `stacks` pass through: each once, however many stacks do, and module by
/// module in ascending order, the order in which debug information lies in its file.
void symbolize_locations(const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                         Symbolizer& symbolizer, const LocationCountObserver& observer,
                         const LocationConsumer& consumer);

}  // namespace hawk
