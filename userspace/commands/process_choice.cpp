#include "userspace/commands/process_choice.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "userspace/base/log.h"
#include "userspace/process/process_list.h"
#include "userspace/report/display_text.h"
#include "userspace/report/units.h"
#include "userspace/selection/process_search.h"

namespace hawk {
namespace {

tl::unexpected<Error> refuse_several(const ProcessQuery& query, const std::vector<int>& pids) {
  constexpr std::size_t kCommandColumns = 60;
  constexpr std::size_t kMostLines = 20;
  const std::vector<ProcessSummary> processes = summarize_processes(pids);
  Error error{ExitCode::kUsage,
              query.has_criteria()
                  ? fmt::format("{}: {} processes match, and one can be traced at a time", text_of(query), pids.size())
                  : fmt::format("--pid: {} processes were given, and one can be traced at a time", pids.size()),
              "give the number of one of them with -p",
              {}};
  if (!processes.empty()) {
    error.details.push_back(fmt::format("{:>10}  {:>11}  {}", "PID", "RSS", "COMMAND"));
    error.hint = fmt::format("choose one: the largest is hawktrace -p {}", processes.front().pid);
  }
  for (const ProcessSummary& process : processes) {
    if (error.details.size() > kMostLines) {
      error.details.push_back(fmt::format("and {} smaller ones", processes.size() - kMostLines));
      break;
    }
    error.details.push_back(fmt::format("{:>10}  {:>11}  {}", process.pid,
                                        format_bytes(process.rss_bytes, NumberStyle::kReadable),
                                        shorten_end(process.command, kCommandColumns)));
  }
  return tl::unexpected<Error>(std::move(error));
}

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

std::vector<int> pids_of(const std::vector<ProcessFacts>& processes) {
  std::vector<int> pids;
  std::transform(processes.begin(), processes.end(), std::back_inserter(pids),
                 [](const ProcessFacts& process) { return process.pid; });
  return pids;
}

Result<ChosenProcess> choose_by_number(const ProcessQuery& query) {
  const std::vector<int> pids = HAWK_TRY(living(query.pids));
  if (pids.size() > 1) return refuse_several(query, pids);
  return ChosenProcess{pids.front(), ProcessHandle(pids.front())};
}

Result<ChosenProcess> choose_by_criteria(const ProcessQuery& query) {
  const ProcRoot proc = HAWK_TRY(ProcRoot::open());
  const FoundProcesses found = HAWK_TRY(find_processes(query, proc, ::getpid()));
  for (const std::string& note : found.notes) log_info(note);
  if (found.processes.size() > 1) return refuse_several(query, pids_of(found.processes));
  const ProcessFacts& process = found.processes.front();
  log_info(fmt::format("{} is process {} ({})", text_of(query), process.pid, process.comm));
  ChosenProcess chosen{process.pid, ProcessHandle(process.pid)};
  // Who has the number now, and began when that one did, had it all along.
  const std::optional<ProcessFacts> now = read_facts(proc, process.pid);
  if (now && now->start_ticks == process.start_ticks) return chosen;
  return fail(ExitCode::kNoTarget, fmt::format("{}: process {} has just ended", text_of(query), process.pid),
              "try again, if it is being restarted");
}

}  // namespace

Result<ChosenProcess> choose_process(const ProcessQuery& query) {
  return query.has_criteria() ? choose_by_criteria(query) : choose_by_number(query);
}

}  // namespace hawk
