#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

namespace hawk {

/// What workers take.
struct WorkerUsage {
  std::uint64_t cpu_ns = 0;               ///< of all until now, those that have ended too
  std::uint64_t peak_resident_bytes = 0;  ///< no less than those that lived at the same time took at any time
};

/// Of all workers of this process. May be asked from any thread.
WorkerUsage usage_of_workers();

/// Of all workers that live.
std::uint64_t resident_bytes_of_workers();

/// A worker has been started, is about to be ended, or was waited for, with what it has taken.
void note_worker_started(pid_t pid) noexcept;
void note_worker_ending() noexcept;
void note_worker_ended(pid_t pid, const rusage* taken) noexcept;

}  // namespace hawk
