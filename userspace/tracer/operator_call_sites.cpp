#include "userspace/tracer/operator_call_sites.h"

#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>

#include "userspace/base/system_failure.h"

namespace hawk {

Result<std::uint32_t> OperatorRules::number_of(const std::vector<CallSiteRule>& call_sites) {
  const auto known = std::find(known_.begin(), known_.end(), call_sites);
  const auto number = static_cast<std::uint32_t>(known - known_.begin());
  if (known != known_.end()) return number;
  // Also of rules that find no room: those of a number that was used are never mixed with others.
  known_.emplace_back();
  for (const CallSiteRule& site : call_sites) {
    const __u64 key = static_cast<__u64>(number) << 32 | site.return_vaddr;
    const hawk_operator_rule rule = {.cfa_offset_bytes = site.cfa_offset_bytes,
                                     .rbp_offset_bytes = site.saved_rbp_offset_bytes.value_or(HAWK_RBP_UNCHANGED)};
    if (bpf_map_update_elem(rules_fd_, &key, &rule, BPF_ANY) != 0) {
      return system_failure(ExitCode::kPrivilege, "store a rule for operator new", errno);
    }
  }
  known_.back() = call_sites;
  return number;
}

std::uint32_t add_operator_file(hawk_target& target, std::uint32_t number, const OperatorFrames& frames) {
  const std::uint32_t index = target.files.operator_file_count;
  hawk_operator_file& entry = target.files.operator_files[index];
  entry.low = frames.call_sites.front().return_vaddr;
  entry.high = frames.call_sites.back().return_vaddr + 1;
  entry.init_vaddr = frames.init_vaddr.value_or(0);
  entry.number = number;
  __atomic_store_n(&target.files.operator_file_count, index + 1, __ATOMIC_RELEASE);
  return index;
}

void set_operator_file_base(hawk_target& target, std::uint32_t index, std::uint64_t base) {
  __atomic_store_n(&target.files.operator_files[index].base, base, __ATOMIC_RELEASE);
}

}  // namespace hawk
