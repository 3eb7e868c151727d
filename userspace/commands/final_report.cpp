#include "userspace/commands/final_report.h"

#include <new>
#include <string>
#include <vector>

#include "userspace/commands/trace_reports.h"

namespace hawk {
namespace {

/// A Symbolizer without any names, which needs no memory.
class NoSymbols : public Symbolizer {
 public:
  std::vector<SourceFrame> frames(ModuleId, std::uint64_t) override { return {}; }
  SymbolSource source(ModuleId) override { return SymbolSource::kNone; }
  std::string gap(ModuleId) override { return "its symbols are not read: out of memory"; }
};

}  // namespace

Result<void> write_final_report(const Snapshot& snapshot, Symbolizer& symbolizer, const ReportOptions& options,
                                Verbosity verbosity, ReportOutput& output, bool is_one_of_several,
                                const Snapshot* previous, const HeapSeries* series) {
  const auto write = [&](Symbolizer& names) -> Result<void> {
    if (!is_one_of_several) return write_report(snapshot, names, options, verbosity, output, series);
    HAWK_TRY_VOID(write_next_report(snapshot, previous, names, options, verbosity, output));
    return {};
  };
  try {
    return write(symbolizer);
  } catch (const std::bad_alloc&) {
    log_warning("the report has no names: out of memory");
  }
  NoSymbols none;
  return write(none);
}

}  // namespace hawk
