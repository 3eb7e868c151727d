#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"
#include "userspace/export/symbolized_heap_text.h"

namespace hawk {

void write_jemalloc(const ReportRequest& request, const TextSink& sink) {
  const ExportedStacks stacks(request, ExportedStacks::Names::kWhole);
  PieceWriter out(sink);
  SymbolizedHeapText text(stacks, out, SymbolizedHeapText::Callers::kOneBehind);
  if (!text.put_symbols()) return;
  const auto put_counters = [&](const Counters& counters) {
    out.put("  t*: {}: {} [{}: {}]\n", counters.live_count(), counters.live_bytes(), counters.allocated_count,
            counters.allocated_bytes);
  };
  // Sampled every 0 bytes: readers take every number as it is. With 1 they would scale up what blocks of a few bytes
  // have, and divide by 0 for those of none.
  out.text() += "heap_v2/0\n";
  put_counters(stacks.totals());
  for (const StackRecord* record : stacks.records()) {
    out.text() += '@';
    text.put_addresses(*record);
    out.text() += '\n';
    put_counters(record->counters);
    if (!out.go_on()) return;
  }
  text.put_mappings();
  out.finish();
}

}  // namespace hawk
