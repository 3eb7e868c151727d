#include "userspace/traces/dump_triggers.h"

#include <algorithm>

namespace hawk {

DumpCause DumpTriggers::due(const Counters& totals) {
  if (totals.allocated_bytes < seen_bytes_) allocated_bytes_ = live_bytes_ = peak_bytes_ = 0;
  seen_bytes_ = totals.allocated_bytes;
  const std::uint64_t live = totals.live_bytes();
  const std::uint64_t margin = std::max(peak_bytes_ / kPeakPart, kLeastPeakBytes);
  if (options_.at_peak && live > peak_bytes_ && live - peak_bytes_ >= margin) return DumpCause::kPeak;
  if (options_.growth_bytes && live > live_bytes_ && live - live_bytes_ >= *options_.growth_bytes) {
    return DumpCause::kGrowth;
  }
  if (options_.allocated_bytes && totals.allocated_bytes - allocated_bytes_ >= *options_.allocated_bytes) {
    return DumpCause::kAllocated;
  }
  return DumpCause::kNone;
}

void DumpTriggers::dumped(DumpCause cause, const Counters& totals) {
  live_bytes_ = totals.live_bytes();
  peak_bytes_ = std::max(peak_bytes_, live_bytes_);
  const std::uint64_t step = options_.allocated_bytes.value_or(1);
  if (cause == DumpCause::kAllocated || totals.allocated_bytes - allocated_bytes_ >= step) {
    allocated_bytes_ = totals.allocated_bytes;
  }
}

}  // namespace hawk
