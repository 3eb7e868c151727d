#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "userspace/base/unix_time.h"
#include "userspace/daemon/directory_entries.h"

namespace hawk {

/// The time by which files are old. A clock that is set makes none of them older: what counts is the lesser of what it
/// shows, and what it showed at first and the time since then.
class AgeClock {
 public:
  std::int64_t now_unix_ns() const { return now_unix_ns(unix_time_ns(), running_ns()); }
  /// The same, by what both clocks show.
  std::int64_t now_unix_ns(std::uint64_t unix_ns, std::uint64_t running_ns) const {
    return static_cast<std::int64_t>(std::min(unix_ns, first_unix_ns_ + (running_ns - first_running_ns_)));
  }
  AgeClock() : AgeClock(unix_time_ns(), running_ns()) {}
  AgeClock(std::uint64_t unix_ns, std::uint64_t running_ns) : first_unix_ns_(unix_ns), first_running_ns_(running_ns) {}

 private:
  /// Since the machine was started; while it sleeps, too.
  static std::uint64_t running_ns();

  std::uint64_t first_unix_ns_;
  std::uint64_t first_running_ns_;
};

/// Which recordings of a target are to be removed: those older than `keep_age`, and the oldest until all that remain
/// have `keep_bytes` at most. `current`, the name of the one that is written, is kept. Other files are not ours.
std::vector<std::string> recordings_to_remove(std::vector<DirectoryEntry> files, const std::string& current,
                                              std::uint64_t keep_bytes, std::chrono::nanoseconds keep_age,
                                              std::int64_t now_unix_ns);

}  // namespace hawk
