#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/export/format.h"
#include "userspace/report/text_options.h"
#include "userspace/report/text_sink.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Writes the report for people, piece by piece: what was traced and whether the numbers are exact, totals, the top
/// stacks, modules without symbols, losses. Ends with a newline. Only the stacks that are shown are symbolized, all of
/// them before the first piece.
void write_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options, const TextSink& sink);

/// The same as a row of the table of formats. Reports that follow another one are set apart by an empty line.
void write_text_report(const ReportRequest& request, const TextSink& sink);

/// The same as one string.
std::string render_text(const Snapshot& snapshot, Symbolizer& symbolizer, const TextOptions& options);

}  // namespace hawk
