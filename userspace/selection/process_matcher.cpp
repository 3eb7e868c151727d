#include "userspace/selection/process_matcher.h"

#include <fnmatch.h>

#include <algorithm>
#include <string_view>

#include "userspace/selection/cgroup_path.h"

namespace hawk {
namespace {

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool has_name(const ProcessFacts& process, const std::string& name) {
  return process.comm == name || (!process.executable.empty() && file_name(process.executable) == name);
}

/// A pattern without a slash is of the file's name. Otherwise * and ? stand for slashes too: /opt/app/* is all below.
bool runs(const ProcessFacts& process, const std::string& pattern) {
  if (process.executable.empty()) return false;
  const bool is_of_name = pattern.find('/') == std::string::npos;
  const std::string_view text = is_of_name ? file_name(process.executable) : std::string_view(process.executable);
  return ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

bool is_in_container(const ProcessFacts& process, const std::string& name) {
  return std::any_of(process.cgroups.begin(), process.cgroups.end(), [&name](const CgroupMembership& cgroup) {
    const std::vector<Container> containers = containers_of(cgroup.path);
    return std::any_of(containers.begin(), containers.end(), [&name](const Container& c) { return c.name == name; });
  });
}

bool has_unit_like(const ProcessFacts& process, const std::string& pattern) {
  return std::any_of(process.cgroups.begin(), process.cgroups.end(),
                     [&pattern](const CgroupMembership& cgroup) { return is_in_unit_like(cgroup.path, pattern); });
}

/// An empty list excludes nothing.
template <class Value, class Test>
bool any_or_none(const std::vector<Value>& values, const ProcessFacts& process, Test test) {
  return values.empty() ||
         std::any_of(values.begin(), values.end(), [&](const Value& value) { return test(process, value); });
}

}  // namespace

bool is_in(const ProcessFacts& process, const CgroupRule& rule) {
  return std::any_of(process.cgroups.begin(), process.cgroups.end(), [&rule](const CgroupMembership& cgroup) {
    return (!rule.hierarchy || *rule.hierarchy == cgroup.hierarchy) && is_within(cgroup.path, rule.path);
  });
}

bool ProcessMatcher::is_in_unit(const ProcessFacts& process) const {
  if (rules_.units.empty()) return any_or_none(rules_.unit_patterns, process, has_unit_like);
  return any_or_none(rules_.units, process, is_in) ||
         (!rules_.unit_patterns.empty() && any_or_none(rules_.unit_patterns, process, has_unit_like));
}

bool ProcessMatcher::matches(const ProcessFacts& process) const {
  return any_or_none(rules_.names, process, has_name) &&
         any_or_none(rules_.comms, process, [](const auto& p, const std::string& comm) { return p.comm == comm; }) &&
         any_or_none(rules_.executables, process, runs) && any_or_none(rules_.cgroups, process, is_in) &&
         is_in_unit(process) && any_or_none(rules_.containers, process, is_in_container);
}

}  // namespace hawk
