#pragma once

#include "userspace/commands/progress_line.h"
#include "userspace/export/report_output.h"

namespace hawk {

/// Runs `produce`; shows how much has been written if that takes longer than a second: "hawktrace: writing the report,
/// 12.3 MiB". `line` must outlive it.
ReportProducer with_progress(ReportProducer produce, ProgressLine& line);

}  // namespace hawk
