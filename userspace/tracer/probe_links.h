#pragma once

#include <cstddef>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/inherited_probes.h"
#include "userspace/tracer/links.h"

struct bpf_program;

namespace hawk {

/// The probes that are in place. Destroying it removes all of them.
class ProbeLinks {
 public:
  /// `pid`: the process to probe; 0: every one.
  ProbeLinks(AttachWay way, int pid) : way_(way), pid_(pid) {}
  /// Those of process `pid` and of the processes that it will make. `probes` must live longer.
  ProbeLinks(InheritedProbes& probes, int pid) : way_(AttachWay::kPerf), pid_(pid), inherited_probes_(&probes) {}

  /// Puts `program` on instructions of the file open as `fd`; `on_return`: on the returns of the functions that they
  /// are the first ones of.
  Result<void> add(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return = false);

  /// How many links there are, to go back to.
  struct Mark {
    std::size_t multi = 0;
    std::size_t perf = 0;
    std::size_t inherited = 0;
  };
  Mark mark() const { return {.multi = multi_.size(), .perf = perf_.size(), .inherited = inherited_.size()}; }
  /// Removes what was added since.
  void remove_since(const Mark& mark);
  /// All at the same time; but what others inherit is kept: InheritedProbes::remove_all().
  /// Each removal waits for several of the kernel's grace periods, some 40 ms; side by side the
  /// waits overlap (measured: five links 430 ms one after the other, 90 ms together).
  void remove_all();
  /// Hands all of them to `other`, which removes them with its own.
  void move_to(ProbeLinks& other);

 private:
  Result<void> add_multi(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);
  Result<void> add_perf(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);

  Result<void> add_inherited(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);

  AttachWay way_;
  int pid_;
  InheritedProbes* inherited_probes_ = nullptr;
  std::vector<UniqueFd> multi_;
  std::vector<PerfLink> perf_;
  std::vector<InheritedProbes::Held> inherited_;
};

}  // namespace hawk
