#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "bpf/layout.h"
#include "userspace/base/kept_things.h"
#include "userspace/base/result.h"
#include "userspace/code/call_site_rules.h"

namespace hawk {

/// Rules of a file, by a number that is never given again.
struct NumberedCallSites {
  std::uint32_t number = 0;
  std::vector<CallSiteRule> call_sites;
};

/// How to step over the forms of operator new that keep no frame pointer, as the programs know it: of each file once,
/// however many targets have it. Those that no target uses any more are kept until their room is needed.
class OperatorRules {
 public:
  OperatorRules() = default;
  /// `rules_fd`: the map operator_rules, which has room for `most`.
  OperatorRules(int rules_fd, std::size_t most) : rules_fd_(rules_fd), most_(most) {}

  /// These rules, which the programs know from then on, and for as long as somebody has what is returned.
  using Use = KeptThings<NumberedCallSites>::Use;
  Result<Use> use(const std::vector<CallSiteRule>& call_sites);

 private:
  Result<void> make_room(std::size_t rules);
  Result<void> store(const NumberedCallSites& rules);
  void remove(const NumberedCallSites& rules);

  int rules_fd_ = -1;
  std::size_t most_ = 0;
  std::size_t count_ = 0;  ///< rules that are stored
  std::uint32_t next_number_ = 0;
  KeptThings<NumberedCallSites> known_;
};

/// Adds a file with these rules to the target's. Returns its index among the target's files; a target
/// has room for HAWK_MAX_OPERATOR_FILES, and must have some left.
std::uint32_t add_operator_file(hawk_target& target, std::uint32_t number, const OperatorFrames& frames);

/// Sets where the file at this index is mapped: the address that its ELF virtual address 0 has.
void set_operator_file_base(hawk_target& target, std::uint32_t index, std::uint64_t base);

}  // namespace hawk
