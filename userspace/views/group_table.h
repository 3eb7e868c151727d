#pragma once

#include "userspace/report/call_table.h"
#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// Puts the table of a report that is grouped by functions, files, ...: what is their own, and what passes through
/// them. Shares are of the whole snapshot.
void put_group_table(TextPage& page, const Snapshot& snapshot, const StackView& view, const CallTable& calls,
                     const Grouping& grouping);

}  // namespace hawk
