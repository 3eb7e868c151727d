#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hawk {

/// What a recording may be named after.
struct RecordingSubject {
  std::string host;
  std::string comm;
  int pid = 0;
  std::uint64_t unix_seconds = 0;
};

/// `pattern` with %h (host), %e (the target's program), %p (its process id), %t (seconds since 1970) and %% replaced,
/// as core(5) has them. A name that holds a slash gets '!' in its place, so that a target chooses no directory; any
/// other % stays.
std::string recording_name(std::string_view pattern, const RecordingSubject& subject);

}  // namespace hawk
