#include "userspace/study/worker_usage.h"

#include <fmt/core.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <string>
#include <string_view>

#include "userspace/base/process_file.h"

namespace hawk {
namespace {

constexpr std::uint64_t kKib = 1024;

/// All that live, as far as there is room: there are never more than three, but for tests. And what others have taken.
struct Workers {
  std::mutex mutex;
  std::array<pid_t, 16> living = {};
  WorkerUsage ended;
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

std::uint64_t peak_bytes_of(pid_t pid) {
  constexpr std::string_view kKey = "\nVmHWM:";
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", pid));
  const std::size_t at = status ? status->find(kKey) : std::string::npos;
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
  WorkerUsage sum = all.ended;
  for (const pid_t pid : all.living) {
    if (pid == 0) continue;
    sum.cpu_ns += cpu_ns_of(pid);
    sum.peak_resident_bytes += peak_bytes_of(pid);
  }
  return sum;
}

void note_worker_started(pid_t pid) noexcept {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  const auto free = std::find(all.living.begin(), all.living.end(), 0);
  if (free != all.living.end()) *free = pid;
}

void note_worker_ended(pid_t pid, const rusage* taken) noexcept {
  Workers& all = workers();
  const std::lock_guard lock(all.mutex);
  std::replace(all.living.begin(), all.living.end(), pid, pid_t{0});
  if (taken == nullptr) return;
  all.ended.cpu_ns += nanoseconds(taken->ru_utime) + nanoseconds(taken->ru_stime);
  all.ended.peak_resident_bytes += static_cast<std::uint64_t>(taken->ru_maxrss) * kKib;
}

}  // namespace hawk
