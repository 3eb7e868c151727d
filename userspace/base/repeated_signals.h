#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "userspace/base/signal_source.h"

namespace hawk {

/// What comes after a signal that ends the trace: while probes are removed others are kept back, and of these the ones
/// that arrive within `repeat_time` are forgotten, because they are the same request. The end does not wait for them.
class RepeatedSignals {
 public:
  /// The request has just been taken.
  explicit RepeatedSignals(SignalSource& signals, std::chrono::nanoseconds repeat_time = kRepeatTime);
  RepeatedSignals(const RepeatedSignals&) = delete;
  RepeatedSignals& operator=(const RepeatedSignals&) = delete;
  ~RepeatedSignals();

  /// All that matters has been done: another request ends us from now on (SignalSource::restore_defaults).
  void restore_defaults();

 private:
  void forget_in_time();
  void stop_waiting();

  SignalSource& signals_;
  const std::chrono::steady_clock::time_point request_ = std::chrono::steady_clock::now();
  const std::chrono::nanoseconds repeat_time_;
  std::mutex mutex_;
  std::condition_variable wakeup_;
  bool is_over_ = false;
  std::jthread thread_;
};

}  // namespace hawk
