#include <cstdint>

#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"
#include "userspace/export/symbolized_heap_text.h"

namespace hawk {

void write_gperftools(const ReportRequest& request, const TextSink& sink) {
  const ExportedStacks stacks(request, ExportedStacks::Names::kWhole);
  PieceWriter out(sink);
  SymbolizedHeapText text(stacks, out, SymbolizedHeapText::Callers::kAsNamed);
  if (!text.put_symbols()) return;
  const auto put_counters = [&](const Counters& counters) {
    // Of a period, what is live may have become less.
    out.put("{:6}: {:8} [{:6}: {:8}] @", static_cast<std::int64_t>(counters.live_count()),
            static_cast<std::int64_t>(counters.live_bytes()), counters.allocated_count, counters.allocated_bytes);
  };
  out.text() += "heap profile: ";
  put_counters(stacks.totals());
  out.text() += " heapprofile\n";  // of a kind that readers do not take for samples
  for (const StackRecord* record : stacks.records()) {
    put_counters(record->counters);
    text.put_addresses(*record);
    out.text() += '\n';
    if (!out.go_on()) return;
  }
  text.put_mappings();
  out.finish();
}

}  // namespace hawk
