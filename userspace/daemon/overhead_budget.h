#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace hawk {

/// Decides when tracing costs too much, and when it may be tried again. Time enters as an argument.
class OverheadBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// Intervals in a row that must be over the budget: a burst is no reason to give up.
  static constexpr std::size_t kIntervals = 3;
  /// The wait doubles with each time that it was in vain, up to this.
  static constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(1);

  /// `max_percent`: of one processor; nullopt: there is no limit. `first_wait`: until tracing is tried again.
  OverheadBudget(std::optional<double> max_percent, std::chrono::nanoseconds first_wait)
      : max_percent_(max_percent), first_wait_(first_wait), wait_(first_wait) {}

  /// Another budget holds from now on; what has been learnt stays.
  void set_limits(std::optional<double> max_percent, std::chrono::nanoseconds first_wait);
  std::optional<double> max_percent() const { return max_percent_; }

  /// Takes the cost of an interval that has just ended, as a share of one processor. Whether tracing must be given up.
  bool note(double share, Time now);
  /// It has been given up, for this budget or for that of the host.
  void gave_up(Time now);
  bool may_trace(Time now) const { return now >= retry_at_; }
  /// How long until then; zero: it may.
  std::chrono::nanoseconds left(Time now) const;

 private:
  std::optional<double> max_percent_;
  std::chrono::nanoseconds first_wait_;
  std::chrono::nanoseconds wait_;     ///< the next one
  std::size_t over_ = 0;              ///< intervals in a row
  std::optional<Time> within_since_;  ///< that long no interval has been over
  Time retry_at_{};
};

}  // namespace hawk
