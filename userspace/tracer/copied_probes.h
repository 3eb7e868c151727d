#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "bpf/layout.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/probe_links.h"
#include "userspace/tracer/probe_remover.h"

namespace hawk {

/// Frees processes that targets have made as copies of themselves, and that are not traced, from the breakpoints which
/// they have copied. Multi links leave them where they are: each call would cost a trap that is not read, for as long
/// as the process runs no other program. But whenever a link goes, the kernel removes the breakpoints of its
/// instructions from all processes for which there is none: further links are made for that. (Perf events need no help:
/// the first hit removes the breakpoint.)
class CopiedProbes {
 public:
  /// Looks after what the process of this target makes. Both must live until forget().
  void add(std::uint32_t number, const hawk_target& target, const ProbeLinks& links);
  void forget(std::uint32_t number) { makers_.erase(number); }
  /// To be called often: does nothing as a rule. The kernel takes a while for it, for which `remover` waits.
  void remove(ProbeRemover& remover);

 private:
  struct Maker {
    const hawk_target* target = nullptr;
    const ProbeLinks* links = nullptr;
    std::uint64_t children = 0;  ///< that had been made then
    std::chrono::steady_clock::time_point looked_at{};
  };

  std::map<std::uint32_t, Maker> makers_;
  UniqueFd program_;  ///< of the further links; does nothing
};

}  // namespace hawk
