#pragma once

#include "userspace/report/call_table.h"
#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// Puts the stacks of a report as a tree of calls. What is small is summed up: below each call all but the first
/// Selection::top, and what is below Selection::min_size_bytes, or without that less than a 200th of the whole; nothing
/// where `top` is 0. Where a caller has several calls, each begins with a hyphen and what it calls is indented.
/// `grouping`: has a tree.
void put_call_tree(TextPage& page, const Snapshot& snapshot, const StackView& view, const CallTable& calls,
                   const Grouping& grouping);

}  // namespace hawk
