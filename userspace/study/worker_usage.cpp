#include "userspace/study/worker_usage.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "userspace/base/process_file.h"

namespace hawk {
namespace {

constexpr std::uint64_t kKib = 1024;

/// A worker that lives.
struct Worker {
  pid_t pid = 0;                          ///< 0: none, this place is free
  std::uint64_t peak_resident_bytes = 0;  ///< as of the last look at it
  std::uint64_t looked_at_cpu_ns = 0;     ///< what it had taken by then
};

/// All that live, as far as there is room: there are never more than three, but for tests. And what others have taken.
struct Workers {
  std::mutex mutex;
  std::array<Worker, 16> living = {};
  std::uint64_t ended_cpu_ns = 0;
  std::uint64_t peak_resident_bytes = 0;  ///< the greatest sum of what each of those that lived took at most

  void note_peak() {
    std::uint64_t sum = 0;
    for (const Worker& worker : living) sum += worker.peak_resident_bytes;
    peak_resident_bytes = std::max(peak_resident_bytes, sum);
  }
};

Workers& workers() {
  static Workers all;
  return all;
}

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

std::uint64_t cpu_ns_of(pid_t pid) {
  clockid_t clock = 0;
  timespec now = {};
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

/// "VmHWM:" of /proc/PID/status, or another line of it; 0: it has none, as the process has ended.
std::uint64_t status_bytes(pid_t pid, std::string_view line) {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", pid));
  const std::size_t at = status ? status->find(line) : std::string::npos;
  if (at == std::string::npos) return 0;
  const std::size_t digits = std::min(status->find_first_of("0123456789", at), status->size());
  std::uint64_t kib = 0;
  std::from_chars(status->data() + digits, status->data() + status->size(), kib);
  return kib * kKib;
}

}  // namespace

WorkerUsage usage_of_workers() {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  WorkerUsage sum = {.cpu_ns = all.ended_cpu_ns};
  for (Worker& worker : all.living) {
    if (worker.pid == 0) continue;
    const std::uint64_t cpu_ns = cpu_ns_of(worker.pid);
    sum.cpu_ns += cpu_ns;
    // One that has not run has taken no memory either.
    if (cpu_ns != 0 && cpu_ns == worker.looked_at_cpu_ns) continue;
    const std::uint64_t peak = status_bytes(worker.pid, "\nVmHWM:");
    if (peak != 0) worker.looked_at_cpu_ns = cpu_ns;
    worker.peak_resident_bytes = std::max(worker.peak_resident_bytes, peak);
  }
  all.note_peak();
  sum.peak_resident_bytes = all.peak_resident_bytes;
  return sum;
}

std::uint64_t resident_bytes_of_workers() {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  std::uint64_t sum = 0;
  for (const Worker& worker : all.living) sum += worker.pid != 0 ? status_bytes(worker.pid, "\nVmRSS:") : 0;
  return sum;
}

void note_worker_started(pid_t pid) noexcept {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  const auto free = std::find_if(all.living.begin(), all.living.end(), [](const Worker& its) { return its.pid == 0; });
  if (free != all.living.end()) *free = {.pid = pid};
}

/// The kernel's figure of what a process took that has ended includes what we took when it was started.
void note_worker_ending() noexcept {
  try {
    usage_of_workers();
  } catch (const std::bad_alloc&) {
    // It remains at the last look.
  }
}

void note_worker_ended(pid_t pid, const rusage* taken) noexcept {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  const auto ended =
      std::find_if(all.living.begin(), all.living.end(), [&](const Worker& its) { return its.pid == pid; });
  if (taken != nullptr) {
    all.ended_cpu_ns += nanoseconds(taken->ru_utime) + nanoseconds(taken->ru_stime);
    // It had ended by itself before it was looked at.
    if (ended != all.living.end() && ended->peak_resident_bytes == 0)
      ended->peak_resident_bytes = static_cast<std::uint64_t>(taken->ru_maxrss) * kKib;
  }
  all.note_peak();
  if (ended != all.living.end()) *ended = {};
}

}  // namespace hawk
