#pragma once

#include "userspace/report/text_page.h"
#include "userspace/report/unwind_text.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What was traced, whether the numbers are exact, and notes about the trace.
void put_header(TextPage& page, const Snapshot& snapshot);

/// Live, peak, allocated and freed, with the cost of the trace and the quality of its stacks.
void put_totals(TextPage& page, const Snapshot& snapshot, const UnwindText& unwind);

/// Instead of totals and stacks if there are none: what was probed, and possible reasons.
void put_nothing_allocated(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk
