#pragma once

#include <optional>
#include <string>
#include <vector>

#include "userspace/selection/process_facts.h"

namespace hawk {

/// A cgroup with all below it.
struct CgroupRule {
  std::optional<std::string> hierarchy;  ///< nullopt: any
  std::string path;
  bool operator==(const CgroupRule&) const = default;
};

/// A ProcessQuery in which nothing is left to be found out: a unit is its cgroup, and the beginning of an id the whole.
/// Lists as there.
struct ProcessRules {
  std::vector<std::string> names = {};
  std::vector<std::string> comms = {};
  std::vector<std::string> executables = {};
  std::vector<CgroupRule> cgroups = {};
  std::vector<CgroupRule> units = {};
  std::vector<std::string> unit_patterns = {};  ///< alternatives to `units`
  std::vector<std::string> containers = {};
};

/// Decides of any process whether it is meant, those that begin later included.
class ProcessMatcher {
 public:
  explicit ProcessMatcher(ProcessRules rules) : rules_(std::move(rules)) {}

  bool matches(const ProcessFacts& process) const;

 private:
  bool is_in_unit(const ProcessFacts& process) const;

  ProcessRules rules_;
};

/// Whether the cgroups of a process are, or lie below, that one.
bool is_in(const ProcessFacts& process, const CgroupRule& rule);

}  // namespace hawk
