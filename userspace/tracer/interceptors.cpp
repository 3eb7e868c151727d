#include "userspace/tracer/interceptors.h"

#include <bpf/bpf.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "userspace/base/owned.h"
#include "userspace/base/unique_fd.h"

namespace hawk {
namespace {

tl::unexpected<Error> fail_to_look(int pid) {
  return fail(ExitCode::kPrivilege,
              fmt::format("look who intercepts system calls of process {}: {}", pid, std::strerror(errno)));
}

/// Has the program run for every thread of the process.
Result<void> look_at_threads(const bpf_program* program, int pid) {
  bpf_iter_link_info threads = {};
  threads.task.pid = static_cast<__u32>(pid);
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &threads, .link_info_len = sizeof(threads));
  const std::unique_ptr<bpf_link, Freer<bpf_link__destroy>> link(bpf_program__attach_iter(program, &options));
  if (!link) return fail_to_look(pid);
  const UniqueFd walk(bpf_iter_create(bpf_link__fd(link.get())));
  char nothing = 0;
  ssize_t got = -1;
  do {
    got = walk ? ::read(walk.get(), &nothing, sizeof(nothing)) : -1;
  } while (got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN)));
  if (got < 0) return fail_to_look(pid);
  return {};
}

}  // namespace

Result<void> require_no_interceptor(const bpf_program* find_interceptors, hawk_state& state, int pid) {
  __atomic_store_n(&state.interceptors, 0, __ATOMIC_SEQ_CST);
  HAWK_TRY_VOID(look_at_threads(find_interceptors, pid));
  const __u32 found = __atomic_load_n(&state.interceptors, __ATOMIC_SEQ_CST);
  if (found == 0) return {};
  const bool is_own = (found & HAWK_DISPATCHED) != 0;
  const std::string who =
      is_own ? "it handles its system calls itself (Syscall User Dispatch)" : "its system calls are traced (ptrace)";
  return fail(ExitCode::kPrivilege, fmt::format("trace process {}: {}", pid, who),
              fmt::format("the kernel's return probes are system calls of the process, and it would not survive if {}",
                          is_own ? "it got them to handle: hawktrace cannot trace such a process"
                                 : "they were refused: end strace, or whatever traces it, first"));
}

}  // namespace hawk
