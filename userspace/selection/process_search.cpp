#include "userspace/selection/process_search.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "userspace/selection/cgroup_mounts.h"
#include "userspace/selection/cgroup_path.h"

namespace hawk {
namespace {

using Processes = std::vector<ProcessFacts>;

constexpr std::size_t kCommLength = 15;  // TASK_COMM_LEN - 1

bool has_process(const Processes& processes, const CgroupRule& rule) {
  return std::any_of(processes.begin(), processes.end(), [&](const ProcessFacts& p) { return is_in(p, rule); });
}

/// The first of the hierarchies in which there is a process: version 2, that of systemd, any other.
CgroupRule in_some_hierarchy(const Processes& processes, const std::string& path) {
  for (const char* const hierarchy : {"", "name=systemd"}) {
    CgroupRule rule{hierarchy, path};
    if (has_process(processes, rule)) return rule;
  }
  return {std::nullopt, path};
}

Result<CgroupRule> resolve_cgroup(const std::string& text, const Processes& processes,
                                  const std::vector<CgroupMount>& mounts) {
  const NamedCgroup named = HAWK_TRY(name_cgroup(text, mounts));
  CgroupRule rule =
      named.hierarchy ? CgroupRule{named.hierarchy, named.path} : in_some_hierarchy(processes, named.path);
  if (has_process(processes, rule)) return rule;
  const bool exists = !named.directory.empty() && ::access(named.directory.c_str(), F_OK) == 0;
  return fail(
      ExitCode::kNoTarget,
      exists ? fmt::format("--cgroup: {} has no process", text) : fmt::format("--cgroup: no process is in {}", text),
      exists ? fmt::format("the cgroup exists: {}", named.directory)
             : "/proc/PID/cgroup shows the cgroup of a process; systemd-cgls shows all");
}

tl::unexpected<Error> no_process_of_unit(const std::string& unit, const Processes& processes) {
  std::set<std::string> instances;
  bool has_systemd = false;
  for (const ProcessFacts& process : processes) {
    for (const CgroupMembership& cgroup : process.cgroups) {
      for (std::string& instance : instances_of(cgroup.path, unit)) instances.insert(std::move(instance));
      has_systemd = has_systemd || cgroup.path.starts_with("/init.scope") || cgroup.path.starts_with("/system.slice");
    }
  }
  if (!instances.empty()) {
    Error error{ExitCode::kUsage,
                fmt::format("--unit: {} is a template", unit),
                fmt::format("name one of its units: --unit {}", *instances.begin()),
                {}};
    for (const std::string& instance : instances) error.details.push_back(instance);
    return tl::unexpected<Error>(std::move(error));
  }
  return fail(ExitCode::kNoTarget, fmt::format("--unit: no process is in a cgroup of {}", unit),
              has_systemd ? fmt::format("is it running? systemctl status {}", unit)
                          : "this machine's cgroups are not managed by systemd: select by --cgroup, --name or --exe");
}

/// The system's unit; if it has none of that name, that of the only user that has one.
Result<CgroupRule> resolve_unit(const std::string& name, const Processes& processes) {
  const std::string unit = complete_unit_name(name);
  std::map<std::string, std::set<std::string>> by_user;  // "" is the system
  for (const ProcessFacts& process : processes) {
    for (const CgroupMembership& cgroup : process.cgroups) {
      const std::optional<UnitCgroup> found = find_unit(cgroup.path, unit);
      if (found) by_user[found->uid.value_or("")].insert(found->cgroup);
    }
  }
  if (by_user.empty()) return no_process_of_unit(unit, processes);
  // Any hierarchy: on a machine with several of them, systemd gives a unit the same path in each.
  if (by_user.begin()->first.empty() || by_user.size() == 1) {
    return CgroupRule{std::nullopt, *by_user.begin()->second.begin()};
  }
  Error error{ExitCode::kUsage,
              fmt::format("--unit: {} users have a unit {}", by_user.size(), unit),
              fmt::format("select one by its cgroup: --cgroup {}", *by_user.begin()->second.begin()),
              {}};
  for (const auto& [uid, paths] : by_user) error.details.push_back(fmt::format("user {}: {}", uid, *paths.begin()));
  return tl::unexpected<Error>(std::move(error));
}

Result<Container> resolve_container(const std::string& text, const Processes& processes) {
  std::map<std::string, Container> found;
  for (const ProcessFacts& process : processes) {
    for (const CgroupMembership& cgroup : process.cgroups) {
      for (Container& container : containers_of(cgroup.path)) {
        if (container.name == text) return std::move(container);
        if (container.is_id && container.name.starts_with(text)) found[container.name] = std::move(container);
      }
    }
  }
  if (found.size() == 1) return std::move(found.begin()->second);
  if (found.empty()) {
    return fail(ExitCode::kNoTarget, fmt::format("--container: no process is in a container {}", text),
                "give its id or the beginning of it, as docker ps, podman ps and crictl ps print it; names work only "
                "for lxc and systemd-nspawn");
  }
  Error error{ExitCode::kUsage,
              fmt::format("--container: the ids of {} containers begin with {}", found.size(), text),
              "give more of its id",
              {}};
  for (const auto& [name, container] : found) {
    error.details.push_back(container.manager.empty() ? name : fmt::format("{} ({})", name, container.manager));
  }
  return tl::unexpected<Error>(std::move(error));
}

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

/// Finds out what a query means.
class Resolver {
 public:
  Resolver(const ProcessQuery& query, const Processes& processes, const std::vector<CgroupMount>& mounts, Absent absent)
      : query_(query), processes_(processes), mounts_(mounts), absent_(absent) {
    rules_ = {.names = query.names, .comms = query.comms, .executables = query.executables};
  }

  Result<FoundRules> resolve() {
    HAWK_TRY_VOID(each(query_.cgroups, [this](const std::string& text) { return take_cgroup(text); }));
    HAWK_TRY_VOID(each(query_.units, [this](const std::string& text) { return take_unit(text); }));
    HAWK_TRY_VOID(each(query_.containers, [this](const std::string& text) { return take_container(text); }));
    return FoundRules{ProcessMatcher(std::move(rules_)), std::move(notes_), is_complete_};
  }

 private:
  /// A list of which nothing is left would exclude nothing.
  template <class Take>
  Result<void> each(const std::vector<std::string>& texts, Take take) {
    std::size_t left_out = 0;
    for (const std::string& text : texts) {
      Result<void> taken = take(text);
      if (taken) continue;
      const bool is_absent = taken.error().exit_code == ExitCode::kNoTarget;
      if (!is_absent || absent_ == Absent::kRefused || ++left_out == texts.size()) return taken;
      is_complete_ = false;
    }
    return {};
  }

  Result<void> take_cgroup(const std::string& text) {
    rules_.cgroups.push_back(HAWK_TRY(resolve_cgroup(text, processes_, mounts_)));
    return {};
  }

  Result<void> take_unit(const std::string& text) {
    if (is_pattern(text)) {
      rules_.unit_patterns.push_back(complete_unit_name(text));
      return {};
    }
    rules_.units.push_back(HAWK_TRY(resolve_unit(text, processes_)));
    notes_.push_back(fmt::format("--unit {} is the cgroup {}", text, rules_.units.back().path));
    return {};
  }

  Result<void> take_container(const std::string& text) {
    Container container = HAWK_TRY(resolve_container(text, processes_));
    notes_.push_back(fmt::format("--container {} is {}{}{}", text, container.manager,
                                 container.manager.empty() ? "" : " ", container.name));
    rules_.containers.push_back(std::move(container.name));
    return {};
  }

  const ProcessQuery& query_;
  const Processes& processes_;
  const std::vector<CgroupMount>& mounts_;
  Absent absent_;
  ProcessRules rules_;
  std::vector<std::string> notes_;
  bool is_complete_ = true;
};

tl::unexpected<Error> nothing_matches(const ProcessQuery& query) {
  const auto is_too_long = [](const std::string& name) { return name.size() > kCommLength; };
  const auto comm = std::find_if(query.comms.begin(), query.comms.end(), is_too_long);
  const auto name = std::find_if(query.names.begin(), query.names.end(), is_too_long);
  std::string hint = "list processes with: ps -e";
  if (text_of(query).find(" --") != std::string::npos) hint += "; a process must match all of these options";
  if (comm != query.comms.end()) {
    hint = fmt::format("the kernel keeps 15 bytes of a name: --comm '{}'", comm->substr(0, kCommLength));
  } else if (name != query.names.end()) {
    hint = fmt::format("the kernel keeps 15 bytes of a script's name: --name '{}'", name->substr(0, kCommLength));
  }
  return fail(ExitCode::kNoTarget, fmt::format("{}: no process matches", text_of(query)), std::move(hint));
}

}  // namespace

std::vector<ProcessFacts> all_processes(const ProcRoot& proc, int own_pid) {
  Processes processes;
  for (const int pid : proc.pids()) {
    std::optional<ProcessFacts> facts = read_facts(proc, pid);
    if (facts && facts->pid != own_pid && facts->parent != own_pid) processes.push_back(std::move(*facts));
  }
  return processes;
}

Result<FoundRules> find_rules(const ProcessQuery& query, const std::vector<ProcessFacts>& processes,
                              const std::vector<CgroupMount>& mounts, Absent absent) {
  return Resolver(query, processes, mounts, absent).resolve();
}

Result<FoundProcesses> find_processes(const ProcessQuery& query, const ProcRoot& proc, int own_pid) {
  Processes processes = all_processes(proc, own_pid);
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(proc.read("self/mountinfo").value_or(""));
  auto [matcher, notes, is_complete] = HAWK_TRY(find_rules(query, processes, mounts));
  std::erase_if(processes, [&m = matcher](const ProcessFacts& process) { return !m.matches(process); });
  if (processes.empty()) return nothing_matches(query);
  return FoundProcesses{std::move(processes), std::move(matcher), std::move(notes)};
}

}  // namespace hawk
