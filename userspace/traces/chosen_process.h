#pragma once

#include <optional>

#include "userspace/attach/trace_group.h"
#include "userspace/base/result.h"
#include "userspace/process/process.h"
#include "userspace/selection/proc_root.h"
#include "userspace/selection/process_facts.h"

namespace hawk {

/// A process that is meant, and a hold on it by something better than its number.
struct ChosenProcess {
  int pid = 0;
  ProcessHandle handle;
};

/// nullopt: it has ended since the facts were read.
std::optional<ChosenProcess> hold(const ProcRoot& proc, const ProcessFacts& process);

/// Adds it to `group`: every probe in place, nothing counted yet. Fails if it has ended meanwhile, and another process
/// may have its number. `waits`: see TraceGroup::add.
Result<ProcessTrace*> attach_to(TraceGroup& group, const ChosenProcess& process, bool waits);

}  // namespace hawk
