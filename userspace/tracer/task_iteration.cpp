#include "userspace/tracer/task_iteration.h"

#include <bpf/bpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "userspace/base/owned.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

Result<void> run_for_tasks(const bpf_program* program, std::optional<int> pid) {
  bpf_iter_link_info which = {};
  if (pid) which.task.pid = static_cast<__u32>(*pid);
  LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &which, .link_info_len = sizeof(which));
  const std::unique_ptr<bpf_link, Freer<bpf_link__destroy>> link(bpf_program__attach_iter(program, &options));
  const UniqueFd walk(link ? bpf_iter_create(bpf_link__fd(link.get())) : -1);
  char nothing = 0;
  ssize_t got = -1;
  do {
    got = walk ? ::read(walk.get(), &nothing, sizeof(nothing)) : -1;
  } while (got > 0 || (walk && got < 0 && (errno == EINTR || errno == EAGAIN)));
  if (got < 0) return fail(ExitCode::kPrivilege, std::strerror(errno));
  return {};
}

}  // namespace hawk
