#pragma once

#include <string>
#include <vector>

namespace hawk {

/// Which processes are meant. The values of one list are alternatives; lists narrow each other down, as those of pgrep
/// do: a process is meant if each list that is not empty has something that it is.
struct ProcessQuery {
  std::vector<int> pids = {};                 ///< -p; nothing else is given with it
  std::vector<std::string> names = {};        ///< --name: the comm, or the executable's file name
  std::vector<std::string> comms = {};        ///< --comm: as the kernel has it, at most 15 bytes
  std::vector<std::string> executables = {};  ///< --exe: patterns of paths
  std::vector<std::string> cgroups = {};      ///< --cgroup: with all cgroups below
  std::vector<std::string> units = {};        ///< --unit: of systemd
  std::vector<std::string> containers = {};   ///< --container: what their ids begin with, or their names

  bool empty() const { return pids.empty() && !has_criteria(); }
  /// Whether processes are selected by anything other than their numbers, so that later ones may match as well.
  bool has_criteria() const;
  bool operator==(const ProcessQuery&) const = default;
};

/// As on the command line: "--unit nginx.service --comm nginx".
std::string text_of(const ProcessQuery& query);

}  // namespace hawk
