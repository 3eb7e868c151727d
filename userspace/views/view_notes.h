#pragma once

#include <string>

#include "userspace/report/text_page.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// The options that narrow a report down, as people gave them: "--focus 'serve', --hide 'pool'"; empty: none.
/// Suppressions are not among them.
std::string filter_text(const FrameFilter& filter);

/// The same with suppressions, for what holds only what is left: "narrowed down by --focus 'serve', --suppressions
/// 'lsan.supp'"; empty: nothing is left out.
std::string narrowing_text(const FrameFilter& filter);

/// Says how many stacks are not in the table, why, and what they hold: totals include them.
void put_view_notes(TextPage& page, const Snapshot& snapshot, const StackView& view, const FrameFilter& filter);

/// Puts what each rule has suppressed. Rules that matched nothing are counted.
void put_suppressions(TextPage& page, const StackView& view, const FrameFilter& filter);

}  // namespace hawk
