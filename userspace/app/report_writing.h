#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/app/options.h"
#include "userspace/app/output.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Writes the final report as the options ask. Tells on stderr how far it has come when debug information takes long to
/// read (ProgressSymbolizer), unless --quiet.
Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const Options& options,
                          ReportOutput& output);

}  // namespace hawk
