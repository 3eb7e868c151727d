#include "userspace/daemon/memory_sampling.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

#include "userspace/attach/process_status.h"
#include "userspace/base/process_file.h"
#include "userspace/process/process_fields.h"

namespace hawk {
namespace {

constexpr std::uint64_t kKib = 1024;
/// Version 1 has a number that stands for no limit.
constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 62;

std::optional<std::uint64_t> read_number(const std::string& path) {
  const Result<std::string> text = read_whole_file(path);
  return text ? leading_number<std::uint64_t>(*text) : std::nullopt;  // "max": there is no limit
}

/// What reclaim leaves: anonymous memory and files of tmpfs.
std::uint64_t kept_bytes(const std::string& directory, bool is_version_1) {
  const Result<std::string> stat = read_whole_file(directory + "/memory.stat");
  if (!stat) return 0;
  const auto number = [&](std::string_view name) { return number_in_lines(*stat, name).value_or(0); };
  return is_version_1 ? number("total_rss") + number("total_shmem") : number("anon") + number("shmem");
}

std::optional<std::uint64_t> limit_of(const std::string& directory, bool is_version_1) {
  std::optional<std::uint64_t> limit =
      read_number(directory + (is_version_1 ? "/memory.limit_in_bytes" : "/memory.max"));
  if (limit && *limit >= kNoLimit) limit.reset();
  return limit;
}

std::uint64_t oom_kills_of(const MemoryCgroupPath& cgroup) {
  const Result<std::string> events =
      read_whole_file(cgroup.directory + (cgroup.is_version_1 ? "/memory.oom_control" : "/memory.events"));
  return events ? number_in_lines(*events, "oom_kill").value_or(0) : 0;
}

/// Of the cgroup and all that it lies in.
std::optional<std::uint64_t> left_below_limits(const MemoryCgroupPath& cgroup) {
  std::optional<std::uint64_t> left;
  for (std::string directory = cgroup.directory; directory.size() > cgroup.mount_point.size();
       directory.resize(directory.rfind('/'))) {
    const std::optional<std::uint64_t> limit = limit_of(directory, cgroup.is_version_1);
    if (!limit) continue;
    const std::uint64_t kept = std::min(kept_bytes(directory, cgroup.is_version_1), *limit);
    left = std::min(left.value_or(*limit), *limit - kept);
  }
  return left;
}

}  // namespace

std::optional<MemoryCgroupPath> memory_cgroup_of(const ProcessFacts& process, const std::vector<CgroupMount>& mounts) {
  const auto has_memory = [](const std::string& hierarchy) {
    return ("," + hierarchy + ",").find(",memory,") != std::string::npos;
  };
  std::optional<MemoryCgroupPath> found;
  for (const CgroupMembership& cgroup : process.cgroups) {
    const bool is_version_1 = has_memory(cgroup.hierarchy);
    if (!is_version_1 && (!cgroup.hierarchy.empty() || found)) continue;
    for (const CgroupMount& mount : mounts) {
      if (mount.hierarchy != cgroup.hierarchy) continue;
      const std::string root = mount.root == "/" ? "" : mount.root;
      if (!cgroup.path.starts_with(root) || cgroup.path.size() <= root.size() + 1) continue;
      found = MemoryCgroupPath{mount.point + cgroup.path.substr(root.size()), mount.point, is_version_1};
      break;
    }
  }
  return found;
}

std::optional<CgroupReading> read_cgroup_memory(const MemoryCgroupPath& cgroup) {
  const std::optional<std::uint64_t> current =
      read_number(cgroup.directory + (cgroup.is_version_1 ? "/memory.usage_in_bytes" : "/memory.current"));
  if (!current) return std::nullopt;
  CgroupReading reading;
  reading.memory = {.current_bytes = *current,
                    .max_bytes = limit_of(cgroup.directory, cgroup.is_version_1),
                    .oom_kills = oom_kills_of(cgroup)};
  reading.left_bytes = left_below_limits(cgroup);
  if (const Result<std::string> pressure = read_whole_file(cgroup.directory + "/memory.pressure")) {
    reading.pressure_percent = pressure_in(*pressure);
  }
  return reading;
}

std::optional<std::uint64_t> read_machine_memory_left() {
  const Result<std::string> info = read_whole_file("/proc/meminfo");
  if (!info) return std::nullopt;
  const auto available = leading_number<std::uint64_t>(status_field(*info, "MemAvailable"));
  if (!available) return std::nullopt;
  return (*available + leading_number<std::uint64_t>(status_field(*info, "SwapFree")).value_or(0)) * kKib;
}

std::optional<ProcessMemory> read_process_memory(int pid) {
  const Result<std::string> status = read_whole_file(fmt::format("/proc/{}/status", pid));
  return status ? memory_in_status(*status) : std::nullopt;
}

std::optional<std::uint64_t> number_in_lines(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ' ') {
      return leading_number<std::uint64_t>(line.substr(name.size()));
    }
  }
  return std::nullopt;
}

std::optional<double> pressure_in(std::string_view text) {
  constexpr std::string_view kSome = "some avg10=";
  const std::size_t at = text.find(kSome);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string number(text.substr(at + kSome.size(), 16));
  return std::strtod(number.c_str(), nullptr);
}

}  // namespace hawk
