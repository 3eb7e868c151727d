#include "userspace/daemon/recording_retention.h"

#include <algorithm>
#include <ctime>

namespace hawk {

std::uint64_t AgeClock::running_ns() {
  constexpr std::uint64_t kSecondNs = 1'000'000'000;
  timespec now = {};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kSecondNs + static_cast<std::uint64_t>(now.tv_nsec);
}

std::vector<std::string> recordings_to_remove(std::vector<DirectoryEntry> files, const std::string& current,
                                              std::uint64_t keep_bytes, std::chrono::nanoseconds keep_age,
                                              std::int64_t now_unix_ns) {
  std::erase_if(files, [](const DirectoryEntry& file) { return !file.name.ends_with(".hawk"); });
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.modified_ns < b.modified_ns; });
  std::uint64_t bytes = 0;
  for (const DirectoryEntry& file : files) bytes += file.size_bytes;
  std::vector<std::string> removed;
  for (const DirectoryEntry& file : files) {
    const bool is_old = now_unix_ns - file.modified_ns > keep_age.count();
    if (file.name == current || (!is_old && bytes <= keep_bytes)) continue;
    bytes -= file.size_bytes;
    removed.push_back(file.name);
  }
  return removed;
}

}  // namespace hawk
