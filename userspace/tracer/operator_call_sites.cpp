#include "userspace/tracer/operator_call_sites.h"

#include <bpf/bpf.h>

#include <cerrno>
#include <utility>

#include "userspace/base/system_failure.h"
#include "userspace/tracer/grace_period.h"

namespace hawk {
namespace {

__u64 key_of(std::uint32_t number, const CallSiteRule& site) {
  return static_cast<__u64>(number) << 32 | site.return_vaddr;
}

}  // namespace

Result<OperatorRules::Use> OperatorRules::use(const std::vector<CallSiteRule>& call_sites) {
  if (Use known = known_.find([&](const NumberedCallSites& its) { return its.call_sites == call_sites; })) return known;
  HAWK_TRY_VOID(make_room(call_sites.size()));
  NumberedCallSites added = {.number = next_number_++, .call_sites = call_sites};
  HAWK_TRY_VOID(store(added));
  return known_.add(std::move(added));
}

/// The kernel gives the place of a rule that is removed to the next one at once, though a program may just be reading
/// it: so none is removed before those that run now have ended.
Result<void> OperatorRules::make_room(std::size_t rules) {
  if (count_ + rules <= most_) return {};
  const std::vector<Use> unused = known_.unused();
  if (!unused.empty()) HAWK_TRY_VOID(wait_for_programs());
  for (const Use& its : unused) {
    if (count_ + rules <= most_ / 4 * 3) break;
    remove(*its);
    known_.forget(its);
  }
  if (count_ + rules <= most_) return {};
  return system_failure(ExitCode::kPrivilege, "store the rules for operator new", ENOSPC);
}

/// All of them or none.
Result<void> OperatorRules::store(const NumberedCallSites& rules) {
  count_ += rules.call_sites.size();
  for (const CallSiteRule& site : rules.call_sites) {
    const __u64 key = key_of(rules.number, site);
    const hawk_operator_rule rule = {.cfa_offset_bytes = site.cfa_offset_bytes,
                                     .rbp_offset_bytes = site.saved_rbp_offset_bytes.value_or(HAWK_RBP_UNCHANGED)};
    if (bpf_map_update_elem(rules_fd_, &key, &rule, BPF_ANY) == 0) continue;
    const int error = errno;
    remove(rules);
    return system_failure(ExitCode::kPrivilege, "store a rule for operator new", error);
  }
  return {};
}

void OperatorRules::remove(const NumberedCallSites& rules) {
  for (const CallSiteRule& site : rules.call_sites) {
    const __u64 key = key_of(rules.number, site);
    bpf_map_delete_elem(rules_fd_, &key);
  }
  count_ -= rules.call_sites.size();
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
