#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "symbolizer/symbolizer.h"
#include "userspace/base/result.h"
#include "userspace/commands/trace_use.h"
#include "userspace/tables/merged_snapshot.h"
#include "userspace/traces/merged_symbolizer.h"

namespace hawk {

/// The heap of all processes that are traced: what reports and the live screen are of. Where there is one process it is
/// that one's.
class TracedHeap {
 public:
  /// `traces` must outlive this. Others may be added to them, at their end; none is removed.
  explicit TracedHeap(const Traces& traces);

  const Traces& traces() const { return traces_; }
  /// To be called after each drain: keeps the highest sum of live bytes; `keeps_state`: and the state then.
  void note_drain(bool keeps_state = false);
  /// As of the last note_drain().
  std::uint64_t peak_live_bytes_most() const { return peak_live_bytes_most_; }
  /// The sums over all stacks of all processes, as of their last drains.
  Counters totals() const;
  /// As of the last drains. Stacks keep their numbers. Fails if the sums are larger than any number. `spare`: as
  /// HeapModel::snapshot takes it.
  Result<Snapshot> snapshot(SpareStacks spare = {});
  /// The same of `last`, the last snapshot of each trace.
  Result<Snapshot> sum_of(const std::vector<Snapshot>& last);
  /// As of the drain with the highest sum of live bytes of which the state was kept.
  Result<Snapshot> at_peak();
  /// Knows the modules of the last snapshot.
  Symbolizer& symbolizer();

 private:
  void keep_state(std::uint64_t live_bytes);

  const Traces& traces_;
  SnapshotMerger merger_;
  MergedSymbolizer symbolizer_;
  std::uint64_t peak_live_bytes_ = 0;
  std::uint64_t peak_live_bytes_most_ = 0;
  std::optional<std::uint64_t> kept_live_bytes_;  ///< of the state that is kept
  std::ptrdiff_t kept_traces_ = 0;                ///< the first of them, of which it is
};

}  // namespace hawk
