#include "userspace/selection/cgroup_mounts.h"

#include <fmt/core.h>

#include <algorithm>

#include "userspace/selection/cgroup_path.h"

namespace hawk {
namespace {

constexpr std::string_view kUsualMountPoint = "/sys/fs/cgroup";

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    words.push_back(line.substr(0, line.find(' ')));
    line.remove_prefix(std::min(words.back().size() + 1, line.size()));
  }
  return words;
}

/// "rw,memory" as "memory", "rw,xattr,name=systemd" as "name=systemd", "rw,cpu,cpuacct" as "cpu,cpuacct": the options
/// of a mount without those that are no controllers, as /proc/PID/cgroup has them.
std::string hierarchy_of(std::string_view options) {
  constexpr std::string_view kNoController[] = {"rw", "ro", "xattr", "noprefix", "clone_children", "none"};
  std::string hierarchy;
  while (!options.empty()) {
    const std::string_view option = options.substr(0, options.find(','));
    options.remove_prefix(std::min(option.size() + 1, options.size()));
    const bool is_controller =
        std::find(std::begin(kNoController), std::end(kNoController), option) == std::end(kNoController) &&
        !option.starts_with("release_agent=");
    if (is_controller) hierarchy += fmt::format("{}{}", hierarchy.empty() ? "" : ",", option);
  }
  return hierarchy;
}

bool has_parent_component(std::string_view path) {
  return path == ".." || path.starts_with("../") || path.ends_with("/..") || path.find("/../") != path.npos;
}

/// A cgroup is named once, whatever slashes there are.
std::string plain_path(std::string_view path) {
  std::string plain = "/";
  for (const char c : path) {
    if (c != '/' || plain.back() != '/') plain += c;
  }
  if (plain.size() > 1 && plain.back() == '/') plain.pop_back();
  return plain;
}

}  // namespace

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (!mountinfo.empty()) {
    const std::string_view line = mountinfo.substr(0, mountinfo.find('\n'));
    mountinfo.remove_prefix(std::min(line.size() + 1, mountinfo.size()));
    // "36 25 0:30 ROOT POINT OPTIONS ... - TYPE SOURCE SUPER_OPTIONS", with any number of words before the dash.
    const std::vector<std::string_view> words = words_of(line);
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    if (dash[1] == "cgroup2") mounts.push_back({"", std::string(words[3]), std::string(words[4])});
    if (dash[1] == "cgroup") mounts.push_back({hierarchy_of(dash[3]), std::string(words[3]), std::string(words[4])});
  }
  return mounts;
}

Result<NamedCgroup> name_cgroup(std::string_view text, const std::vector<CgroupMount>& mounts) {
  if (text.empty() || has_parent_component(text)) {
    return fail(ExitCode::kUsage, fmt::format("--cgroup: '{}' is not the path of a cgroup", text),
                "give it as in /proc/PID/cgroup, or below its mount point: --cgroup /system.slice/cron.service");
  }
  const std::string path = plain_path(text);
  const CgroupMount* mount = nullptr;
  for (const CgroupMount& candidate : mounts) {
    const bool is_deeper = mount == nullptr || candidate.point.size() > mount->point.size();
    if (is_within(path, candidate.point) && is_deeper) mount = &candidate;
  }
  if (mount != nullptr) {
    return NamedCgroup{mount->hierarchy, plain_path(mount->root + "/" + path.substr(mount->point.size())), path};
  }
  if (is_within(path, kUsualMountPoint)) {
    return fail(ExitCode::kNoTarget, fmt::format("--cgroup: no cgroup hierarchy is mounted at {}", path),
                mounts.empty() ? "give the path as in /proc/PID/cgroup, or mount the hierarchy: mount -t cgroup2 none "
                                 "/sys/fs/cgroup"
                               : fmt::format("there is one at {}", mounts.back().point));
  }
  const auto second =
      std::find_if(mounts.begin(), mounts.end(), [](const CgroupMount& m) { return m.hierarchy.empty(); });
  return NamedCgroup{std::nullopt, path, second == mounts.end() ? "" : plain_path(second->point + "/" + path)};
}

}  // namespace hawk
