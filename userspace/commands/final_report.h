#pragma once

#include "symbolizer/symbolizer.h"
#include "userspace/base/log.h"
#include "userspace/commands/report_options.h"
#include "userspace/export/report_output.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// As write_report() and, where there are several, write_next_report() (`previous`: as there). The numbers must not be
/// lost: if memory is short, they are reported without names.
Result<void> write_final_report(const Snapshot& snapshot, Symbolizer& symbolizer, const ReportOptions& options,
                                Verbosity verbosity, ReportOutput& output, bool is_one_of_several = false,
                                const Snapshot* previous = nullptr, const HeapSeries* series = nullptr);

}  // namespace hawk
