#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "userspace/base/result.h"

namespace hawk {

/// Where a hierarchy of cgroups is mounted.
struct CgroupMount {
  std::string hierarchy;  ///< as in CgroupMembership
  std::string root;       ///< the cgroup that is there
  std::string point;      ///< the directory
  bool operator==(const CgroupMount&) const = default;
};

/// Those in the text of /proc/self/mountinfo.
std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

/// A cgroup that a user has named.
struct NamedCgroup {
  std::optional<std::string> hierarchy;  ///< nullopt: it is the user's path that is given, in whichever there is
  std::string path;                      ///< as /proc/PID/cgroup has it
  std::string directory;                 ///< where it would be seen; empty: it is not mounted
  bool operator==(const NamedCgroup&) const = default;
};

/// What is meant by a path below a mount point, or by one as /proc/PID/cgroup has it, with or without its first slash.
/// kUsage: neither. kNoTarget: it lies where cgroups usually are mounted, but are not.
Result<NamedCgroup> name_cgroup(std::string_view text, const std::vector<CgroupMount>& mounts);

}  // namespace hawk
