#include "userspace/base/cgroup_membership.h"

#include <algorithm>

namespace hawk {

std::vector<CgroupMembership> parse_cgroups(std::string_view text) {
  constexpr std::string_view kRemoved = " (deleted)";
  std::vector<CgroupMembership> memberships;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    // "0::/path" or "4:memory:/path"; names of hierarchies have no colon, paths may.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    std::string_view path = line.substr(second + 1);
    if (path.ends_with(kRemoved)) path.remove_suffix(kRemoved.size());
    memberships.push_back({std::string(line.substr(first + 1, second - first - 1)), std::string(path)});
  }
  return memberships;
}

std::string telling_cgroup(const std::vector<CgroupMembership>& memberships) {
  const CgroupMembership* telling = nullptr;
  for (const CgroupMembership& membership : memberships) {
    const bool tells = membership.path != "/";
    if (telling == nullptr || (tells && (telling->path == "/" || membership.hierarchy.empty()))) telling = &membership;
  }
  return telling == nullptr ? "" : telling->path;
}

}  // namespace hawk
