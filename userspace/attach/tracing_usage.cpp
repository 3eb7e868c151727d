#include "userspace/attach/tracing_usage.h"

#include <fmt/core.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <string>

#include "userspace/attach/process_status.h"
#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"
#include "userspace/study/worker_usage.h"

namespace hawk {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr int kUserTime = 14;  // fields of /proc/PID/stat
constexpr int kSystemTime = 15;

std::uint64_t nanoseconds(const timeval& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * kSecondNs + static_cast<std::uint64_t>(time.tv_usec) * 1'000;
}

std::optional<std::uint64_t> cpu_ns_by_stat(int pid) {
  const Result<std::string> stat = read_whole_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return std::nullopt;
  return cpu_ns_in_stat(*stat, static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)));
}

/// A process has a clock by the number of its first thread.
std::optional<std::uint64_t> cpu_ns_of(int pid) {
  clockid_t clock = 0;
  timespec now = {};
  const bool is_read = pid > 0 && ::clock_getcpuclockid(pid, &clock) == 0 && ::clock_gettime(clock, &now) == 0;
  if (!is_read) return cpu_ns_by_stat(pid);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

std::optional<std::uint64_t> cpu_ns_in_stat(std::string_view stat, std::uint64_t ticks_per_second) {
  const auto user = leading_number<std::uint64_t>(stat_from_field(stat, kUserTime));
  const auto system = leading_number<std::uint64_t>(stat_from_field(stat, kSystemTime));
  if (!user || !system || ticks_per_second == 0) return std::nullopt;
  return (*user + *system) * (kSecondNs / ticks_per_second);
}

void UsageMeter::begin(bool from_start) {
  if (!from_start) target_cpu_before_ns_ = cpu_ns_of(proc_pid_).value_or(0);
}

std::uint64_t own_cpu_ns() {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  return nanoseconds(own.ru_utime) + nanoseconds(own.ru_stime) + usage_of_workers().cpu_ns;
}

std::uint64_t own_resident_bytes() {
  const Result<std::string> status = read_whole_file("/proc/self/status");
  const std::optional<ProcessMemory> own = status ? memory_in_status(*status) : std::nullopt;
  return (own ? own->resident_bytes : 0) + resident_bytes_of_workers();
}

void UsageMeter::look() {
  const std::optional<std::uint64_t> target = cpu_ns_of(proc_pid_);
  // That of another process, or of a target that has ended and whose threads' times are gone.
  if (target && *target >= target_cpu_before_ns_ + target_cpu_ns_.value_or(0)) {
    target_cpu_ns_ = *target - target_cpu_before_ns_;
  }
}

TracingUsage UsageMeter::read(std::uint64_t table_bytes) const {
  rusage own = {};
  ::getrusage(RUSAGE_SELF, &own);
  const WorkerUsage workers = usage_of_workers();
  return {.cpu_ns = nanoseconds(own.ru_utime) + nanoseconds(own.ru_stime) + workers.cpu_ns,
          .peak_resident_bytes = static_cast<std::uint64_t>(own.ru_maxrss) * 1024 + workers.peak_resident_bytes,
          .table_bytes = table_bytes,
          .target_cpu_ns = target_cpu_ns_};
}

}  // namespace hawk
