#include "userspace/tracer/grace_period.h"

#include <bpf/bpf.h>
#include <linux/types.h>

#include <cerrno>

#include "userspace/base/system_failure.h"
#include "userspace/base/unique_fd.h"

namespace hawk {

/// The kernel promises that once a map in a map has been replaced no program uses the one before
/// (maybe_wait_bpf_programs, kernel/bpf/syscall.c). It waits for all programs, whichever maps they have.
Result<void> wait_for_programs() {
  constexpr const char* kAction = "wait for the BPF programs";
  const UniqueFd inner(bpf_map_create(BPF_MAP_TYPE_ARRAY, "grace_inner", sizeof(__u32), sizeof(__u64), 1, nullptr));
  if (!inner) return system_failure(ExitCode::kPrivilege, kAction, errno);
  LIBBPF_OPTS(bpf_map_create_opts, options, .inner_map_fd = static_cast<__u32>(inner.get()));
  const UniqueFd outer(
      bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "grace_outer", sizeof(__u32), sizeof(__u32), 1, &options));
  const __u32 first = 0, fd = static_cast<__u32>(inner.get());
  if (outer && bpf_map_update_elem(outer.get(), &first, &fd, BPF_ANY) == 0) return {};
  return system_failure(ExitCode::kPrivilege, kAction, errno);
}

}  // namespace hawk
