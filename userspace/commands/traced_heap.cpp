#include "userspace/commands/traced_heap.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

namespace hawk {

TracedHeap::TracedHeap(const Traces& traces)
    : traces_(traces),
      symbolizer_(merger_.numbers(), [this](std::size_t part) -> Symbolizer& { return traces_[part]->symbolizer(); }) {}

void TracedHeap::note_drain(bool keeps_state) {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  for (const auto& trace : traces_) {
    least += trace->least_live_bytes();
    most += trace->take_most_live_bytes();
  }
  peak_live_bytes_most_ = std::max(peak_live_bytes_most_, most);
  peak_live_bytes_ = std::max(peak_live_bytes_, least);
  if (keeps_state) keep_state(least);
}

/// A program that another has replaced took its state at the peak with it: then the peak is that of what is left.
void TracedHeap::keep_state(std::uint64_t live_bytes) {
  const auto lost = [](const auto& trace) { return !trace->has_peak(); };
  if (std::any_of(traces_.begin(), traces_.begin() + kept_traces_, lost)) kept_live_bytes_.reset();
  if (kept_live_bytes_ && live_bytes <= *kept_live_bytes_) return;
  kept_live_bytes_ = live_bytes;
  kept_traces_ = static_cast<std::ptrdiff_t>(traces_.size());
  for (const auto& trace : traces_) trace->keep_peak();
}

Counters TracedHeap::totals() const {
  Counters sum;
  for (const auto& trace : traces_) sum += trace->totals();
  return sum;
}

Result<Snapshot> TracedHeap::snapshot(SpareStacks spare) {
  if (traces_.size() == 1) return traces_.front()->snapshot(std::move(spare));
  std::vector<Snapshot> now;
  for (const auto& trace : traces_) now.push_back(trace->snapshot());
  return sum_of(now);
}

Result<Snapshot> TracedHeap::sum_of(const std::vector<Snapshot>& last) {
  if (last.size() == 1) return last.front();
  std::vector<const Snapshot*> parts;
  parts.reserve(last.size());
  for (const Snapshot& snapshot : last) parts.push_back(&snapshot);
  std::optional<Snapshot> sum = merger_.merge(parts, peak_live_bytes_, peak_live_bytes_most_);
  if (sum) return std::move(*sum);
  return fail(ExitCode::kNotExact, fmt::format("sum up {} processes: the sums are too large", last.size()),
              "trace them one by one, or record them: hawktrace report --target shows each");
}

Result<Snapshot> TracedHeap::at_peak() {
  if (traces_.size() == 1) return traces_.front()->snapshot_at_peak();
  std::vector<Snapshot> then;
  for (const auto& trace : traces_) then.push_back(trace->snapshot_at_peak());
  return sum_of(then);
}

Symbolizer& TracedHeap::symbolizer() {
  if (traces_.size() == 1) return traces_.front()->symbolizer();
  return symbolizer_;
}

}  // namespace hawk
