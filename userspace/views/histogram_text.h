#pragma once

#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Puts the sizes of the blocks that were allocated, and the lifetimes of those that were freed, of all stacks; nothing
/// where they were not counted.
void put_histograms(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk
