#include "userspace/daemon/directory_entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>

namespace hawk {

std::vector<DirectoryEntry> entries_of(const std::string& path) {
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  std::vector<DirectoryEntry> entries;
  const auto close = [](DIR* directory) { ::closedir(directory); };
  const std::unique_ptr<DIR, decltype(close)> directory(::opendir(path.c_str()), close);
  if (!directory) return entries;
  while (const dirent* entry = ::readdir(directory.get())) {
    struct stat status = {};
    if (::fstatat(::dirfd(directory.get()), entry->d_name, &status, 0) != 0) continue;
    if (!S_ISREG(status.st_mode)) continue;
    entries.push_back({.name = entry->d_name,
                       .size_bytes = static_cast<std::uint64_t>(status.st_size),
                       .modified_ns = status.st_mtim.tv_sec * kSecondNs + status.st_mtim.tv_nsec});
  }
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return entries;
}

}  // namespace hawk
