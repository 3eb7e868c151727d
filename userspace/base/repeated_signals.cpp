#include "userspace/base/repeated_signals.h"

#include "userspace/base/threads.h"

namespace hawk {

RepeatedSignals::RepeatedSignals(SignalSource& signals, std::chrono::nanoseconds repeat_time)
    : signals_(signals), repeat_time_(repeat_time), thread_(try_thread([this] { forget_in_time(); })) {
  if (!thread_.joinable()) forget_in_time();
}

RepeatedSignals::~RepeatedSignals() { stop_waiting(); }

/// What is kept back does not tell when it arrived: so that is looked at when the time is over.
void RepeatedSignals::forget_in_time() {
  std::unique_lock lock(mutex_);
  wakeup_.wait_until(lock, request_ + repeat_time_, [this] { return is_over_; });
  signals_.forget_requests();
}

void RepeatedSignals::stop_waiting() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  wakeup_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void RepeatedSignals::restore_defaults() {
  stop_waiting();
  signals_.restore_defaults(request_, repeat_time_);
}

}  // namespace hawk
