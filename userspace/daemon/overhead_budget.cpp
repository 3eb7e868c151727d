#include "userspace/daemon/overhead_budget.h"

#include <algorithm>

namespace hawk {

void OverheadBudget::set_limits(std::optional<double> max_percent, std::chrono::nanoseconds first_wait) {
  if (first_wait != first_wait_) wait_ = first_wait;
  max_percent_ = max_percent;
  first_wait_ = first_wait;
}

bool OverheadBudget::note(double share, Time now) {
  constexpr double kPercent = 100;
  if (!max_percent_ || share * kPercent <= *max_percent_) {
    over_ = 0;
    if (!within_since_) within_since_ = now;
    // A load that has passed is forgotten.
    if (now - *within_since_ >= wait_) wait_ = first_wait_;
    return false;
  }
  within_since_.reset();
  return ++over_ >= kIntervals;
}

void OverheadBudget::gave_up(Time now) {
  retry_at_ = now + wait_;
  wait_ = std::min(wait_ * 2, std::max(kLongestWait, first_wait_));
  over_ = 0;
  within_since_.reset();
}

std::chrono::nanoseconds OverheadBudget::left(Time now) const {
  return std::max(std::chrono::nanoseconds(retry_at_ - now), std::chrono::nanoseconds(0));
}

}  // namespace hawk
