#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hawk {

/// In which cgroup of one hierarchy a process is: a line of /proc/PID/cgroup.
struct CgroupMembership {
  std::string hierarchy;  ///< controllers, or "name=systemd"; empty for version 2
  std::string path;       ///< "/system.slice/nginx.service"
  bool operator==(const CgroupMembership&) const = default;
};

/// All lines of /proc/PID/cgroup. A cgroup that has been removed is the one that it was.
std::vector<CgroupMembership> parse_cgroups(std::string_view text);

/// The one of them that tells most: of version 2, or else the first, unless that is the root and another is not. Empty:
/// there is none.
std::string telling_cgroup(const std::vector<CgroupMembership>& memberships);

}  // namespace hawk
