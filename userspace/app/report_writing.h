#pragma once

#include <string>

#include "symbolizer/symbolizer.h"
#include "userspace/app/options.h"
#include "userspace/app/output.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// Renders the final report as the options ask and writes it.
Result<void> write_report(const Snapshot& snapshot, Symbolizer& symbolizer, const Options& options,
                          ReportOutput& output);

}  // namespace hawk
