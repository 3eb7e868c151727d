#include "userspace/commands/traced_processes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "userspace/base/log.h"
#include "userspace/selection/process_search.h"

namespace hawk {

Result<void> TracedProcesses::attach_to_all(const std::vector<ChosenProcess>& processes) {
  std::optional<Error> first;
  for (const ChosenProcess& process : processes) {
    Result<ProcessTrace*> attached = attach_to(group_, process, true);
    if (attached) continue;
    if (processes.size() > 1)
      log_warning(fmt::format("process {} is left out: {}", process.pid, attached.error().what));
    if (!first) first = std::move(attached).error();
  }
  if (traces().empty()) return tl::unexpected<Error>(std::move(*first));
  return {};
}

Result<std::unique_ptr<TracedProcesses>> TracedProcesses::attach(const TraceOptions& options,
                                                                 const LaunchedCommand* command) {
  TraceConfig config = options.trace;
  ProcessChoice choice;
  if (command == nullptr) choice = HAWK_TRY(choose_processes(options.processes));
  config.several = choice.processes.size() > 1 || choice.watch;
  for (const ChosenProcess& process : choice.processes) config.first_processes.push_back(process.pid);
  std::unique_ptr<TracedProcesses> traced(new TracedProcesses(config));
  traced->watch_ = std::move(choice.watch);
  if (command == nullptr) {
    HAWK_TRY_VOID(traced->attach_to_all(choice.processes));
  } else {
    HAWK_TRY_VOID(traced->group_.add(*command));
  }
  return traced;
}

/// To read the facts of all processes takes milliseconds: that is done when a process has begun, and now and then in
/// case that one has been moved into a cgroup; and even then for no more than a small part of the time.
std::vector<ProcessFacts> TracedProcesses::look() {
  constexpr std::chrono::seconds kAnyway{10};
  constexpr int kPartOfTime = 20;
  const auto began = std::chrono::steady_clock::now();
  const std::uint32_t begun = group_.processes_begun();
  const bool is_due = begun != begun_ || watch_->has_open() || began - looked_at_ >= kAnyway;
  if (!is_due || began < next_look_) return {};
  begun_ = begun;
  looked_at_ = began;
  const Result<ProcRoot> proc = ProcRoot::open();
  if (!proc) return {};
  std::vector<ProcessFacts> found = watch_->take_new(all_processes(*proc, ::getpid()));
  next_look_ = began + kPartOfTime * (std::chrono::steady_clock::now() - began);
  return found;
}

/// That it has ended meanwhile is no error.
ProcessTrace* TracedProcesses::pick_up(const ProcRoot& proc, const ProcessFacts& process) {
  const auto is_it = [&](const auto& trace) { return trace->pid() == process.pid && !trace->has_ended(); };
  if (std::any_of(traces().begin(), traces().end(), is_it)) {
    watch_->note_traced(process);  // another one has started it
    return nullptr;
  }
  const std::optional<ChosenProcess> held = hold(proc, process);
  if (!held) return nullptr;
  Result<ProcessTrace*> trace = attach_to(group_, *held, false);
  if (!trace) {
    if (watch_->note_failed(process) && trace.error().exit_code != ExitCode::kNoTarget)
      log_warning(fmt::format("process {} is left out: {}", process.pid, trace.error().what));
    return nullptr;
  }
  watch_->note_traced(process);
  (*trace)->begin();
  return *trace;
}

std::vector<ProcessTrace*> TracedProcesses::pick_up() {
  const std::vector<ProcessFacts> found = look();
  std::vector<ProcessTrace*> added;
  if (found.empty()) return added;
  const Result<ProcRoot> proc = ProcRoot::open();
  if (!proc) return added;
  for (const ProcessFacts& process : found) {
    if (ProcessTrace* const trace = pick_up(*proc, process)) added.push_back(trace);
  }
  return added;
}

}  // namespace hawk
