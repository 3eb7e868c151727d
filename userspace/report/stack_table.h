#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "userspace/report/call_table.h"
#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Puts one line for each of `stacks`: rank, live bytes and blocks, what is allocated a second and how much of it was
/// freed, and the function that decides on it; and one for all stacks of the snapshot. On narrow terminals the less
/// important columns are left out.
void put_stack_table(TextPage& page, const Snapshot& snapshot, const std::vector<const StackRecord*>& stacks,
                     const CallTable& calls);

}  // namespace hawk
