#pragma once

#include <bpf/libbpf.h>

#include "bpf/layout.h"
#include "userspace/base/result.h"

namespace hawk {

/// Fails if the system calls of a thread of process `pid` are intercepted, with the reason. `find_interceptors`:
/// the program of that name.
Result<void> require_no_interceptor(const bpf_program* find_interceptors, hawk_state& state, int pid);

}  // namespace hawk
