#include "userspace/tracer/children.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace hawk {

UntracedChildren read_children(int programs_fd, const hawk_target& target, std::uint32_t index) {
  UntracedChildren children;
  if (__atomic_load_n(&target.has_children, __ATOMIC_ACQUIRE) == 0) return children;
  const std::uint64_t executed = __atomic_load_n(&target.children_executed, __ATOMIC_ACQUIRE);
  const std::uint64_t all = __atomic_load_n(&target.losses[HAWK_LOSS_UNTRACED_CHILD], __ATOMIC_ACQUIRE);
  children.without_exec = all - std::min(all, executed);
  hawk_program_name name = {};
  for (void* before = nullptr; bpf_map_get_next_key(programs_fd, before, &name) == 0; before = &name) {
    std::uint64_t count = 0;
    if (name.target != index) continue;
    if (bpf_map_lookup_elem(programs_fd, &name, &count) != 0 || count == 0) continue;
    children.programs.push_back({std::string(name.comm, ::strnlen(name.comm, sizeof(name.comm))), count});
  }
  std::sort(children.programs.begin(), children.programs.end(), [](const ChildProgram& a, const ChildProgram& b) {
    return a.count != b.count ? a.count > b.count : a.comm < b.comm;
  });
  return children;
}

}  // namespace hawk
