#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/export/format.h"
#include "userspace/report/text_options.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/snapshot.h"
#include "userspace/views/grouping.h"
#include "userspace/views/stack_view.h"

namespace hawk {

/// Writes the report for people, piece by piece: what was traced and whether the numbers are exact, totals, the top
/// stacks, modules without symbols, losses. Ends with a newline. Only the stacks that are shown are symbolized, all of
/// them before the first piece; all stacks where there is a filter or a grouping. Totals and shares are those of the
/// snapshot, whatever the filter: what it leaves out is said below the table. With a grouping its table stands in place
/// of that of the stacks, or its tree.
void write_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink,
                const FrameFilter& filter = {}, const Grouping& grouping = {});

/// The same as a row of the table of formats. Reports that follow another one are set apart by an empty line.
void write_text_report(const ReportRequest& request, const TextSink& sink);

/// The same as one string.
std::string render_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options,
                        const FrameFilter& filter = {}, const Grouping& grouping = {});

}  // namespace hawk
