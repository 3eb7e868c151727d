#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>

namespace hawk {

/// What workers take.
struct WorkerUsage {
  std::uint64_t cpu_ns = 0;
  std::uint64_t peak_resident_bytes = 0;  ///< the sum of what each took at most
};

/// Of all workers of this process until now, those that have ended too. May be asked from any thread.
WorkerUsage usage_of_workers();

/// A worker has been started, or waited for, with what it has taken. They take no memory.
void note_worker_started(pid_t pid) noexcept;
void note_worker_ended(pid_t pid, const rusage* taken) noexcept;

}  // namespace hawk
