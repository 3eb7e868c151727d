#include "userspace/commands/process_choice.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/selection/process_search.h"

namespace hawk {
namespace {

/// Those of `pids` that are processes. Fails with what is wrong with the first if none is, and with what is wrong with
/// any that is there and cannot be traced.
Result<std::vector<int>> living(const std::vector<int>& pids) {
  std::vector<int> found;
  std::optional<Error> first;
  std::vector<std::string> gone;
  for (const int pid : pids) {
    Result<ProcessInfo> process = inspect_process(pid);
    if (process) {
      found.push_back(pid);
    } else if (process.error().exit_code != ExitCode::kNoTarget) {
      return tl::unexpected<Error>(std::move(process).error());
    } else {
      gone.push_back(process.error().what);
      if (!first) first = std::move(process).error();
    }
  }
  if (found.empty() && first) return tl::unexpected<Error>(std::move(*first));
  for (const std::string& what : gone) log_warning(fmt::format("{}; it is left out", what));
  return found;
}

Result<ProcessChoice> choose_by_number(const ProcessQuery& query) {
  ProcessChoice chosen;
  for (const int pid : HAWK_TRY(living(query.pids))) chosen.processes.push_back({pid, ProcessHandle(pid)});
  return chosen;
}

/// "812 (nginx), 813 (nginx)"; of many processes, the first.
std::string listed(const std::vector<ProcessFacts>& processes) {
  constexpr std::size_t kMost = 20;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, processes.size()); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? "" : ", ", processes[i].pid, processes[i].comm);
  }
  return processes.size() > kMost ? fmt::format("{} and {} more", text, processes.size() - kMost) : text;
}

Result<ProcessChoice> choose_by_criteria(const ProcessQuery& query) {
  const ProcRoot proc = HAWK_TRY(ProcRoot::open());
  FoundProcesses found = HAWK_TRY(find_processes(query, proc, ::getpid()));
  for (const std::string& note : found.notes) log_info(note);
  log_info(fmt::format("{} is process{} {}", text_of(query), found.processes.size() == 1 ? "" : "es",
                       listed(found.processes)));
  ProcessChoice chosen;
  for (const ProcessFacts& process : found.processes) {
    if (std::optional<ChosenProcess> held = hold(proc, process)) chosen.processes.push_back(std::move(*held));
  }
  if (!chosen.processes.empty()) {
    chosen.watch.emplace(std::move(found));
    return chosen;
  }
  return fail(ExitCode::kNoTarget,
              fmt::format("{}: process {} has just ended", text_of(query), found.processes.front().pid),
              "try again if it is being restarted");
}

}  // namespace

Result<ProcessChoice> choose_processes(const ProcessQuery& query) {
  return query.has_criteria() ? choose_by_criteria(query) : choose_by_number(query);
}

}  // namespace hawk
