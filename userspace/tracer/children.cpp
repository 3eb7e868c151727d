#include "userspace/tracer/children.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace hawk {

namespace {

/// The programs that children of the target at `index` have begun to run.
std::vector<hawk_program_name> programs_of(int programs_fd, std::uint32_t index) {
  std::vector<hawk_program_name> its;
  hawk_program_name name = {};
  for (void* before = nullptr; bpf_map_get_next_key(programs_fd, before, &name) == 0; before = &name) {
    if (name.target == index) its.push_back(name);
  }
  return its;
}

}  // namespace

UntracedChildren read_children(int programs_fd, const hawk_target& target, std::uint32_t index) {
  UntracedChildren children;
  if (__atomic_load_n(&target.has_children, __ATOMIC_ACQUIRE) == 0) return children;
  const std::uint64_t executed = __atomic_load_n(&target.children_executed, __ATOMIC_ACQUIRE);
  const std::uint64_t all = __atomic_load_n(&target.losses[HAWK_LOSS_UNTRACED_CHILD], __ATOMIC_ACQUIRE);
  children.without_exec = all - std::min(all, executed);
  for (const hawk_program_name& name : programs_of(programs_fd, index)) {
    std::uint64_t count = 0;
    if (bpf_map_lookup_elem(programs_fd, &name, &count) != 0 || count == 0) continue;
    children.programs.push_back({std::string(name.comm, ::strnlen(name.comm, sizeof(name.comm))), count});
  }
  std::sort(children.programs.begin(), children.programs.end(), [](const ChildProgram& a, const ChildProgram& b) {
    return a.count != b.count ? a.count > b.count : a.comm < b.comm;
  });
  return children;
}

void forget_children(int programs_fd, std::uint32_t index) {
  for (const hawk_program_name& name : programs_of(programs_fd, index)) bpf_map_delete_elem(programs_fd, &name);
}

}  // namespace hawk
