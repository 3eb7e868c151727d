#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/base/log.h"
#include "userspace/commands/report_options.h"
#include "userspace/export/report_output.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Writes the final report with the given options. Shows the progress on stderr if debug information takes long to read
/// (ProgressSymbolizer), unless --quiet. `series`: nullptr if only the snapshot is known.
Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const ReportOptions& options,
                          Verbosity verbosity, ReportOutput& output, const HeapSeries* series = nullptr);

/// Writes one report of several (--report-every), with what has changed since `previous`, the snapshot of the previous
/// one (nullptr: this is the first). False: the pipe is closed.
Result<bool> write_next_report(const Snapshot& snapshot, const Snapshot* previous, Symbolizer& symbolizer,
                               const ReportOptions& options, Verbosity verbosity, ReportOutput& output);

}  // namespace hawk
