#pragma once

#include "userspace/report/text_page.h"
#include "userspace/report/unwind_text.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// What was traced, whether the numbers are exact, and what a reader must know of the trace.
void put_header(TextPage& page, const Snapshot& snapshot);

/// Live, peak, allocated and freed, with what the trace cost and how far its stacks can be trusted.
void put_totals(TextPage& page, const Snapshot& snapshot, const UnwindText& unwind);

/// In place of totals and stacks where there is none: what was probed, and what may be the reason.
void put_nothing_allocated(TextPage& page, const Snapshot& snapshot);

}  // namespace hawk
