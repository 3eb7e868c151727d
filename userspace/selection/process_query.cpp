#include "userspace/selection/process_query.h"

#include <fmt/core.h>

#include <string_view>

namespace hawk {

bool ProcessQuery::has_criteria() const {
  return !names.empty() || !comms.empty() || !executables.empty() || !cgroups.empty() || !units.empty() ||
         !containers.empty();
}

std::string text_of(const ProcessQuery& query) {
  std::string text;
  const auto add = [&text](std::string_view option, std::string_view value) {
    text += fmt::format("{}{} {}", text.empty() ? "" : " ", option, value);
  };
  for (const int pid : query.pids) add("--pid", std::to_string(pid));
  for (const std::string& name : query.names) add("--name", name);
  for (const std::string& comm : query.comms) add("--comm", comm);
  for (const std::string& pattern : query.executables) add("--exe", pattern);
  for (const std::string& path : query.cgroups) add("--cgroup", path);
  for (const std::string& unit : query.units) add("--unit", unit);
  for (const std::string& container : query.containers) add("--container", container);
  return text;
}

}  // namespace hawk
