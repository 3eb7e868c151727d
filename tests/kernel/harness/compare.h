#pragma once

#include <ostream>

#include "tests/kernel/harness/ledger.h"
#include "tests/kernel/harness/report.h"

namespace hawk {

/// Expects that the report says exactly what the ledger says: each function's four numbers, with that function as the
/// direct caller of the allocator; nothing else; the losses that the ledger announces and no other; every stack
/// complete (but for as many as the ledger announces) and, where the ledger has noted it, the same address by address,
/// unless the trace was by frame pointers alone; and the report's own invariants (totals are sums, live = allocated -
/// freed, counters agree with the kernel's live table).
void expect_equal(const Report& report, const Ledger& ledger);

/// The same, but stacks may be flagged, as many as there are: of programs whose code has been mapped a moment ago, or
/// for the caller to look at. What is said to be complete must be right.
void expect_equal_but_flagged(const Report& report, Ledger ledger);

/// Expects that a stack of a function that notes its stacks is one of those if it is said to be complete, and the
/// beginning of one if it is said to be truncated.
void expect_noted_or_flagged(const ReportStack& stack, const Ledger& ledger);

/// Expects the invariants alone, which hold for every trace.
void expect_sound(const Report& report);

}  // namespace hawk
