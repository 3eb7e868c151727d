#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "userspace/tables/snapshot.h"

namespace hawk {

/// Measures the CPU time and memory that tracing takes.
class UsageMeter {
 public:
  /// `proc_pid`: a living thread of the target.
  explicit UsageMeter(int proc_pid) : proc_pid_(proc_pid) {}

  /// The trace begins. `from_start`: so does the target.
  void begin(bool from_start);
  /// Looks at the target, whose figures remain after it has ended as they were at the last look.
  void look();
  /// The usage until now, the target's as of the last look.
  TracingUsage read(std::uint64_t table_bytes) const;

 private:
  int proc_pid_;
  std::uint64_t target_cpu_before_ns_ = 0;
  std::optional<std::uint64_t> target_cpu_ns_;
};

/// The CPU time of this process, and of the processes that it reads files with.
std::uint64_t own_cpu_ns();
/// The resident memory of the same, now.
std::uint64_t own_resident_bytes();

/// The CPU time of a process, all its threads and those that have ended, by its /proc/PID/stat; nullopt: it is invalid.
/// `ticks_per_second`: of the clock in which it is counted.
std::optional<std::uint64_t> cpu_ns_in_stat(std::string_view stat, std::uint64_t ticks_per_second);

}  // namespace hawk
