#pragma once

#include <cstdint>
#include <optional>

#include "userspace/tables/counters.h"
#include "userspace/tables/snapshot.h"

namespace hawk {

/// When a state is to be reported or recorded early, in addition to SIGUSR1.
struct DumpOptions {
  std::optional<std::uint64_t> allocated_bytes;  ///< each time so many more have been allocated
  std::optional<std::uint64_t> growth_bytes;     ///< each time so many more are live than at the last dump
  bool at_peak = false;                          ///< each time more are live than ever: see DumpTriggers

  bool is_empty() const { return !allocated_bytes && !growth_bytes && !at_peak; }
};

/// Decides by the counters of each drain whether a dump is due. Events between two drains are not seen: a level passed
/// several times makes one dump.
class DumpTriggers {
 public:
  /// A peak is dumped if it is higher than the last dumped one by a tenth and by 1 MiB at least: a slow climb makes few
  /// dumps.
  static constexpr std::uint64_t kPeakPart = 10;
  static constexpr std::uint64_t kLeastPeakBytes = std::uint64_t{1} << 20;

  explicit DumpTriggers(const DumpOptions& options) : options_(options) {}

  /// The cause for a dump that is due; kNone: none is. Counters that are smaller than before are those of another
  /// program (exec), for which everything starts again.
  DumpCause due(const Counters& totals);
  /// To be called with every dump, whatever has caused it.
  void dumped(DumpCause cause, const Counters& totals);

 private:
  DumpOptions options_;
  std::uint64_t seen_bytes_ = 0;       ///< allocated, when it was last looked
  std::uint64_t allocated_bytes_ = 0;  ///< at the last dump for them
  std::uint64_t live_bytes_ = 0;       ///< at the last dump
  std::uint64_t peak_bytes_ = 0;       ///< at the last dump of a peak, or a dump of more than that
};

}  // namespace hawk
