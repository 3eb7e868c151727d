#include "userspace/commands/traced_heap.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace hawk {

TracedHeap::TracedHeap(const Traces& traces)
    : traces_(traces),
      symbolizer_(merger_.numbers(), [this](std::size_t part) -> Symbolizer& { return traces_[part]->symbolizer(); }) {}

void TracedHeap::note_drain() { peak_live_bytes_ = std::max(peak_live_bytes_, totals().live_bytes()); }

Counters TracedHeap::totals() const {
  Counters sum;
  for (const auto& trace : traces_) sum += trace->totals();
  return sum;
}

Result<Snapshot> TracedHeap::snapshot() {
  std::vector<Snapshot> now;
  for (const auto& trace : traces_) now.push_back(trace->snapshot());
  return sum_of(now);
}

Result<Snapshot> TracedHeap::sum_of(const std::vector<Snapshot>& last) {
  if (last.size() == 1) return last.front();
  std::vector<const Snapshot*> parts;
  parts.reserve(last.size());
  for (const Snapshot& snapshot : last) parts.push_back(&snapshot);
  std::optional<Snapshot> sum = merger_.merge(parts, peak_live_bytes_);
  if (sum) return std::move(*sum);
  return fail(ExitCode::kNotExact, fmt::format("sum up {} processes: the sums are too large", last.size()),
              "trace them one by one, or record them: hawktrace report --target shows each");
}

Symbolizer& TracedHeap::symbolizer() {
  if (traces_.size() == 1) return traces_.front()->symbolizer();
  return symbolizer_;
}

}  // namespace hawk
