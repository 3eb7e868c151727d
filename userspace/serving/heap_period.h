#pragma once

#include "userspace/tables/snapshot.h"

namespace hawk {

/// What numbers of a period are of.
enum class PeriodNumbers {
  /// All of them of the period: live bytes are what they have grown by, which is negative (modulo 2^64) where more was
  /// freed than allocated. As Go's net/http/pprof means ?seconds=N.
  kChange,
  /// Allocated ones are of the period, live ones are those at its end; freed ones mean nothing. As Pyroscope takes
  /// profiles that are pushed.
  kLiveAtEnd,
};

/// The heap of a period between two snapshots of the same target, of the processes that were traced at its end. Stacks
/// are told apart by process, program and fingerprint, since others may have come and gone, and have other numbers.
/// What a process has done that was not traced at the beginning is all of the period.
Snapshot heap_of_period(const Snapshot& before, const Snapshot& after, PeriodNumbers numbers);

}  // namespace hawk
