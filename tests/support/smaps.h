#pragma once

#include <sys/types.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>

namespace hawk {

/// "anonymous", "brk" and so on, as hawktrace's reports have it, of a mapping with that path in /proc/PID/smaps. Of a
/// thread's stack nothing shows that it is one: it is anonymous.
inline std::string region_kind(const std::string& path) {
  const auto begins = [&](const char* with) { return path.starts_with(with); };
  const bool is_deleted = path.ends_with(" (deleted)");
  if (path.empty() || begins("[anon:")) return "anonymous";
  if (path == "[heap]") return "brk";
  if (path == "[stack]") return "stack";
  if (begins("[anon_shmem:")) return "shared";
  if (begins("[")) return "kernel";
  if (is_deleted && begins("/SYSV")) return "shm";
  if (is_deleted && (begins("/dev/zero") || begins("/memfd:"))) return "shared";
  return is_deleted && begins("/anon_hugepage") ? "anonymous" : "file";
}

/// What is mapped, by kind, as a file like /proc/PID/maps or /proc/PID/smaps says; every kind is there.
inline std::map<std::string, std::uint64_t> mapped_by_kind(const std::string& maps_path) {
  std::map<std::string, std::uint64_t> kinds;
  for (const char* kind : {"anonymous", "brk", "stack", "file", "shared", "shm", "kernel"}) kinds[kind] = 0;
  std::ifstream file(maps_path);
  std::uint64_t all = 0;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first.ends_with(":")) continue;  // of the mapping above
    std::string permissions, offset, device, inode, path;
    words >> permissions >> offset >> device >> inode;
    std::getline(words >> std::ws, path);
    if (path == "[vsyscall]") continue;
    const std::size_t dash = first.find('-');
    const std::uint64_t bytes =
        std::stoull(first.substr(dash + 1), nullptr, 16) - std::stoull(first.substr(0, dash), nullptr, 16);
    kinds[region_kind(path)] += bytes;
    all += bytes;
  }
  if (all == 0) throw std::runtime_error("no mappings in " + maps_path);
  return kinds;
}

/// The same of a process that does nothing meanwhile.
inline std::map<std::string, std::uint64_t> mapped_by_kind(pid_t pid) {
  return mapped_by_kind("/proc/" + std::to_string(pid) + "/smaps");
}

}  // namespace hawk
