#pragma once

#include <bpf/libbpf.h>

#include <optional>

#include "userspace/base/result.h"

namespace hawk {

/// Runs an iterator program (SEC "iter/task") for every task, or for the threads of process `pid` only. The error says
/// nothing but why the kernel refused: the caller knows what it was for.
Result<void> run_for_tasks(const bpf_program* program, std::optional<int> pid);

}  // namespace hawk
