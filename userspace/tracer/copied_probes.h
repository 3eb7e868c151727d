#pragma once

#include <chrono>
#include <cstdint>
#include <map>

#include "bpf/layout.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/probe_links.h"
#include "userspace/tracer/probe_remover.h"

namespace hawk {

/// Removes the breakpoints that untraced children of targets have inherited by fork. Multi links leave
/// them in place: each call would cost a trap without effect until the process runs another program. But
/// when a link is closed, the kernel removes the breakpoints of its instructions from all processes
/// without one: additional links are made for that. (Perf events need nothing: the first hit removes the
/// breakpoint.)
class CopiedProbes {
 public:
  /// Handles the children of this target's process. Both must live until forget().
  void add(std::uint32_t number, const hawk_target& target, const ProbeLinks& links);
  void forget(std::uint32_t number) { makers_.erase(number); }
  /// To be called often: usually does nothing. `remover` waits for the kernel to finish.
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
