#include "userspace/tracer/interceptors.h"

#include <fmt/core.h>

#include <string>

#include "userspace/process/process.h"
#include "userspace/tracer/task_iteration.h"

namespace hawk {

Result<void> require_no_interceptor(const bpf_program* find_interceptors, hawk_state& state, int pid) {
  __atomic_store_n(&state.interceptors, 0, __ATOMIC_SEQ_CST);
  const Result<void> looked = run_for_tasks(find_interceptors, pid);
  if (!looked) {
    return fail(ExitCode::kPrivilege, fmt::format("find out whether system calls of process {} are intercepted: {}",
                                                  pid, looked.error().what));
  }
  const __u32 found = __atomic_load_n(&state.interceptors, __ATOMIC_SEQ_CST);
  if (found == 0) return {};
  const bool is_own = (found & HAWK_DISPATCHED) != 0;
  if (is_own) {
    return fail(ExitCode::kPrivilege,
                fmt::format("trace process {}: it handles its own system calls (Syscall User Dispatch)", pid),
                "the kernel's return probes are system calls of the process, which would not survive having to handle "
                "them: hawktrace cannot trace such a process");
  }
  const PtraceInfo by = find_ptracer(pid).value_or(PtraceInfo{.pid = 0, .comm = "another process"});
  return fail(ExitCode::kPrivilege,
              fmt::format("trace process {}: its system calls are traced by {} (ptrace)", pid, by.comm),
              fmt::format("the kernel's return probes are system calls of the process, which would not survive if they "
                          "were refused; only strace is known not to refuse them: end {} first",
                          by.pid != 0 ? fmt::format("process {}", by.pid) : "that"));
}

}  // namespace hawk
