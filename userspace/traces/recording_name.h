#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hawk {

/// The values that the name of a recording may contain.
struct RecordingSubject {
  std::string host;
  std::string comm;
  int pid = 0;
  std::uint64_t unix_seconds = 0;
};

/// `pattern` with %h (host), %e (the target's program), %p (its process id), %t (seconds since 1970) and %% replaced
/// as in core(5). A slash in a name is replaced by '!', so that a target cannot choose a directory; any other %
/// remains.
std::string recording_name(std::string_view pattern, const RecordingSubject& subject);

}  // namespace hawk
