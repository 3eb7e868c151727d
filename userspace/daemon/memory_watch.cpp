#include "userspace/daemon/memory_watch.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "userspace/report/units.h"

namespace hawk {
namespace {

std::string readable(std::uint64_t bytes) { return format_bytes(bytes, NumberStyle::kReadable); }

std::string readable(std::chrono::duration<double> time) {
  return format_duration(static_cast<std::uint64_t>(
      std::chrono::nanoseconds(static_cast<std::chrono::nanoseconds::rep>(time.count() * 1e9)).count()));
}

constexpr double kRearm = 1.1;
constexpr double kLeastGrowth = 0.05;  // of what is used

}  // namespace

std::optional<double> MemoryWatch::bytes_per_second() const {
  if (samples_.size() < kFewest) return std::nullopt;
  std::vector<double> slopes;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    for (std::size_t j = i + 1; j < samples_.size(); ++j) {
      const std::chrono::duration<double> time = samples_[j].time - samples_[i].time;
      if (time.count() <= 0) continue;
      slopes.push_back((static_cast<double>(samples_[j].used_bytes) - static_cast<double>(samples_[i].used_bytes)) /
                       time.count());
    }
  }
  if (slopes.empty()) return std::nullopt;
  const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
  std::nth_element(slopes.begin(), middle, slopes.end());
  return *middle;
}

std::optional<WatchFinding> MemoryWatch::find(const MemorySample& sample) const {
  using Cause = WatchFinding::Cause;
  const double used = static_cast<double>(sample.used_bytes);
  if (found_at_bytes_ && used < static_cast<double>(*found_at_bytes_) * kRearm) return std::nullopt;
  if (rules_.high_water_bytes && sample.used_bytes >= *rules_.high_water_bytes) {
    return WatchFinding{Cause::kHighWater,
                        fmt::format("{} are used, more than watch-high-water, {}", readable(sample.used_bytes),
                                    readable(*rules_.high_water_bytes))};
  }
  if (rules_.pressure_percent && sample.pressure_percent && *sample.pressure_percent >= *rules_.pressure_percent) {
    return WatchFinding{Cause::kPressure,
                        fmt::format("its cgroup waits for memory {:.0f} % of the time", *sample.pressure_percent)};
  }
  const std::optional<double> slope = bytes_per_second();
  if (!slope || *slope <= 0 || !sample.left_bytes) return std::nullopt;
  const std::chrono::duration<double> span = samples_.back().time - samples_.front().time;
  const double grown = *slope * span.count();
  if (grown < std::max(static_cast<double>(rules_.min_growth_bytes), used * kLeastGrowth)) return std::nullopt;
  const std::chrono::duration<double> time_left(static_cast<double>(*sample.left_bytes) / *slope);
  if (time_left >= rules_.time_to_limit) return std::nullopt;
  return WatchFinding{Cause::kTimeToLimit,
                      fmt::format("{} are used, growing by {} a minute: the limit, {} more, is reached in {}",
                                  readable(sample.used_bytes), readable(static_cast<std::uint64_t>(*slope * 60)),
                                  readable(*sample.left_bytes), readable(time_left))};
}

std::optional<WatchFinding> MemoryWatch::note(const MemorySample& sample) {
  samples_.push_back(sample);
  if (samples_.size() > kSamples) samples_.pop_front();
  // It has been started again, or has given back what it had.
  if (found_at_bytes_ && sample.used_bytes < *found_at_bytes_ / 2) found_at_bytes_.reset();
  std::optional<WatchFinding> finding = find(sample);
  if (finding) found_at_bytes_ = sample.used_bytes;
  return finding;
}

}  // namespace hawk
