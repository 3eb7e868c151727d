#include "userspace/traces/chosen_process.h"

#include <utility>

namespace hawk {

std::optional<ChosenProcess> hold(const ProcRoot& proc, const ProcessFacts& process) {
  ProcessHandle handle(process.pid);
  // A process with this number now, and with the same start time, has had it all along.
  const std::optional<ProcessFacts> now = read_facts(proc, process.pid);
  if (!now || now->start_ticks != process.start_ticks) return std::nullopt;
  return ChosenProcess{process.pid, std::move(handle)};
}

Result<ProcessTrace*> attach_to(TraceGroup& group, const ChosenProcess& process, bool waits) {
  ProcessTrace* const trace = HAWK_TRY(group.add(process.pid, waits));
  if (Result<void> is_meant = process.handle.require_same(); !is_meant) {
    group.remove(*trace);
    return tl::unexpected<Error>(std::move(is_meant).error());
  }
  return trace;
}

}  // namespace hawk
