#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hawk {

/// Calls `attempt` with a duration, and then with twice as much as before, until it returns that what had to happen
/// within the duration did: on a busy machine any may be too short.
inline void in_enough_time(std::chrono::milliseconds duration,
                           const std::function<bool(std::chrono::milliseconds)>& attempt) {
  while (!attempt(duration)) duration *= 2;
}

/// As options have it.
inline std::string in_milliseconds(std::chrono::milliseconds duration) {
  return std::to_string(duration.count()) + "ms";
}

}  // namespace hawk
