#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "userspace/daemon/config.h"

namespace hawk {

/// What the processes of a target use, at one time.
struct MemorySample {
  std::chrono::steady_clock::time_point time{};
  std::uint64_t used_bytes = 0;  ///< anonymous memory, in memory or swapped out: what reclaim does not change
  std::optional<std::uint64_t> left_bytes = {};  ///< until a limit, of a cgroup or the machine
  std::optional<double> pressure_percent =
      {};  ///< of the last ten seconds in which tasks of the cgroup waited for memory
};

/// Why a target is to be traced.
struct WatchFinding {
  enum class Cause { kTimeToLimit, kHighWater, kPressure };
  Cause cause = Cause::kHighWater;
  std::string text;  ///< "412.00 MiB are used, ..."
};

/// Decides by samples of memory when a target is worth tracing. Whatever the cause, there is no other finding before
/// 10 % more is used than at the last one, so that a slow climb does not make a trace of each sample.
class MemoryWatch {
 public:
  explicit MemoryWatch(const WatchRules& rules) : rules_(rules) {}
  /// Other rules hold from now on.
  void set_rules(const WatchRules& rules) { rules_ = rules; }

  /// Takes the next sample.
  std::optional<WatchFinding> note(const MemorySample& sample);
  /// Growth per second over the last samples, as the median of the slopes between any two of them (Theil and Sen),
  /// which a few outliers do not change; nullopt: there are too few.
  std::optional<double> bytes_per_second() const;

  static constexpr std::size_t kSamples = 10;
  static constexpr std::size_t kFewest = 4;

 private:
  std::optional<WatchFinding> find(const MemorySample& sample) const;

  WatchRules rules_;
  std::deque<MemorySample> samples_;
  std::optional<std::uint64_t> found_at_bytes_;  ///< used at the last finding
};

}  // namespace hawk
