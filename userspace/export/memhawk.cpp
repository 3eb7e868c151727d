#include <fmt/chrono.h>

#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/printable.h"
#include "userspace/export/exchange_formats.h"
#include "userspace/export/exported_stacks.h"
#include "userspace/export/piece_writer.h"
#include "userspace/report/period.h"

namespace hawk {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::size_t kTop = 10;

double mb_of(std::uint64_t bytes) { return static_cast<double>(bytes) / (1024 * 1024); }

double average_of(const Counters& counters) {
  if (counters.live_count() == 0) return 0;
  return static_cast<double>(counters.live_bytes()) / static_cast<double>(counters.live_count());
}

/// There is no data structure in the process to which "overhead" and "MemHawk heap" would refer.
void put_numbers(PieceWriter& out, std::string_view heading, const Counters& counters) {
  out.put("{} size: {:9.3f} mb, active: {:12}, total: {:12}, average: {:12.3f} bytes, overhead:     0.000 mb\n",
          heading, mb_of(counters.live_bytes()), counters.live_count(), counters.allocated_count, average_of(counters));
}

void put_top(PieceWriter& out, const Snapshot& snapshot, const Selection& selection, SortKey key) {
  std::vector<const StackRecord*> stacks = matching_stacks(snapshot, selection);
  keep_top(stacks, key, kTop);
  for (const StackRecord* stack : stacks) {
    put_numbers(out, fmt::format("TraceId: {:9},", static_cast<std::uint32_t>(stack->id)), stack->counters);
  }
}

std::size_t updated_stacks(const Snapshot& snapshot, const Snapshot* previous) {
  const Period period(snapshot, previous);
  std::size_t updated = 0;
  for (const StackRecord& stack : snapshot.stacks) {
    const Counters* const before = period.counters_before(stack.id);
    updated += before == nullptr || *before != stack.counters ? 1 : 0;
  }
  return updated;
}

std::string stacktrace_line(const ExportedStacks& stacks, const ListedFrame& call) {
  const Location& location = call.location;
  const Module* module = location.module ? find_module(stacks.snapshot(), *location.module) : nullptr;
  return fmt::format("{:#x}: {} + {:x}: {}\n", location.address,
                     module != nullptr ? printable_unicode(module->path) : "", location.module_offset,
                     call.source.function.empty() && !stacks.is_placeholder(call) ? "" : stacks.name_of(call));
}

}  // namespace

void write_memhawk_summary(const ReportRequest& request, const TextSink& sink) {
  const Snapshot& snapshot = request.snapshot;
  const std::uint64_t now = snapshot.trace.start_unix_ns + snapshot.trace.duration_ns;
  PieceWriter out(sink);
  out.put("{:%Y-%m-%dT%H:%M:%S}.{:07}+00:00\n", fmt::gmtime(static_cast<std::time_t>(now / kNsPerSecond)),
          now % kNsPerSecond / 100);
  put_numbers(out, "Application heap:", snapshot.totals);
  put_numbers(out, "MemHawk heap:    ", {});
  out.put("Total traces: {}, updated since last time: {}\nExternal index:\nByActiveSize\n", snapshot.stacks.size(),
          updated_stacks(snapshot, request.previous));
  put_top(out, snapshot, request.selection, SortKey::kLive);
  out.text() += "ByTotalCount\n";
  put_top(out, snapshot, request.selection, SortKey::kAllocatedCount);
  out.finish();
}

void write_memhawk_stacktraces(const ReportRequest& request, const TextSink& sink) {
  const ExportedStacks stacks(request, ExportedStacks::Names::kWhole);
  PieceWriter out(sink);
  std::vector<std::string> lines(stacks.call_count());  // by call: a report repeats a few thousand of them
  for (const StackRecord* record : stacks.records()) {
    out.put("TraceId: {}\n", static_cast<std::uint32_t>(record->id));
    for (const ListedFrame* call : stacks.calls(*record)) {
      std::string& line = lines[stacks.number_of(*call)];
      if (line.empty()) line = stacktrace_line(stacks, *call);
      out.text() += line;
    }
    if (!out.go_on()) return;
  }
  out.finish();
}

}  // namespace hawk
