#pragma once

#include <cstdint>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/result.h"
#include "userspace/code/call_site_rules.h"

namespace hawk {

/// How to step over the forms of operator new that keep no frame pointer, as the programs know it: of each file once,
/// however many targets have it.
class OperatorRules {
 public:
  OperatorRules() = default;
  /// `rules_fd`: the map operator_rules.
  explicit OperatorRules(int rules_fd) : rules_fd_(rules_fd) {}

  /// The number of these rules, which the programs know from then on.
  Result<std::uint32_t> number_of(const std::vector<CallSiteRule>& call_sites);

 private:
  int rules_fd_ = -1;
  std::vector<std::vector<CallSiteRule>> known_;
};

/// Adds a file with these rules to the target's. Returns its index among the target's files; a target
/// has room for HAWK_MAX_OPERATOR_FILES, and must have some left.
std::uint32_t add_operator_file(hawk_target& target, std::uint32_t number, const OperatorFrames& frames);

/// Sets where the file at this index is mapped: the address that its ELF virtual address 0 has.
void set_operator_file_base(hawk_target& target, std::uint32_t index, std::uint64_t base);

}  // namespace hawk
