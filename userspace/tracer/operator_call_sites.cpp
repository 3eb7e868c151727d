#include "userspace/tracer/operator_call_sites.h"

#include <bpf/bpf.h>
#include <fmt/core.h>

#include <cerrno>
#include <cstring>

#include "userspace/base/system_failure.h"

namespace hawk {

Result<std::optional<std::uint32_t>> add_operator_call_sites(const KernelMaps& maps, int rules_fd,
                                                             const OperatorFrames& frames) {
  const std::uint32_t module = maps.state->operator_file_count;
  if (module == HAWK_MAX_OPERATOR_FILES) return std::optional<std::uint32_t>();
  for (const CallSiteRule& site : frames.call_sites) {
    const __u64 key = static_cast<__u64>(module) << 32 | site.return_vaddr;
    const hawk_operator_rule rule = {.cfa_offset_bytes = site.cfa_offset_bytes,
                                     .rbp_offset_bytes = site.saved_rbp_offset_bytes.value_or(HAWK_RBP_UNCHANGED)};
    if (bpf_map_update_elem(rules_fd, &key, &rule, BPF_ANY) != 0) {
      return system_failure(ExitCode::kPrivilege, "store a rule for operator new", errno);
    }
  }
  hawk_operator_file& entry = maps.state->operator_files[module];
  entry.low = frames.call_sites.front().return_vaddr;
  entry.high = frames.call_sites.back().return_vaddr + 1;
  entry.init_vaddr = frames.init_vaddr.value_or(0);
  __atomic_store_n(&maps.state->operator_file_count, module + 1, __ATOMIC_RELEASE);
  return std::optional<std::uint32_t>(module);
}

void set_operator_module_base(const KernelMaps& maps, std::uint32_t module, std::uint64_t base) {
  __atomic_store_n(&maps.state->operator_files[module].base, base, __ATOMIC_RELEASE);
}

}  // namespace hawk
