#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/attach_way.h"
#include "userspace/tracer/file_links.h"
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
  ProbeLinks(InheritedProbes& probes, int pid)
      : way_(AttachWay::kPerf), pid_(pid), inherited_probes_(&probes), share_(probes.make_share()) {}
  /// Those of every process that maps a file, which others use as well. `links` must live longer.
  explicit ProbeLinks(FileLinks& links) : way_(AttachWay::kSession), pid_(0), file_links_(&links) {}

  /// Puts `program` on instructions of the file open as `fd`; `on_return`: on the returns of the functions that they
  /// are the first ones of.
  Result<void> add(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return = false);

  /// Further multi links on the same instructions for the same process, as far as the kernel lets us: with a program
  /// that does nothing.
  ProbeLinks make_further(int program_fd) const;

  /// How many links there are, to go back to.
  struct Mark {
    std::size_t multi = 0;
    std::size_t perf = 0;
    std::size_t inherited = 0;
    std::size_t used = 0;
  };
  Mark mark() const {
    return {.multi = multi_.size(), .perf = perf_.size(), .inherited = inherited_count(), .used = used_.size()};
  }
  /// Whether all links that were added since are for files and were made before `time_ns` (CLOCK_MONOTONIC). Links of
  /// the target's own are not: they are made when they are added.
  bool are_older_than(std::uint64_t time_ns, const Mark& since) const;
  /// Uses the links for files of another target, which has the same files.
  void use_links_of(const ProbeLinks& other) { used_ = other.used_; }
  /// The process has its inherited probes by that of `maker`; nullptr: it is not known by whom.
  void note_maker(const ProbeLinks* maker);
  /// See InheritedProbes.
  bool may_have_lost(std::uint64_t made_ns) const;
  /// The process has ended.
  void note_ended();
  /// Gives up the links for files that others still use. Returns whether any link is left.
  bool leave_to_others();
  /// Removes what was added since.
  void remove_since(const Mark& mark);
  /// All at the same time; but what others inherit is left to them: InheritedProbes::leave().
  /// Each removal waits for several of the kernel's grace periods, some 40 ms; side by side the
  /// waits overlap (measured: five links 430 ms one after the other, 90 ms together).
  void remove_all();
  /// Hands all of them to `other`, which removes them with its own.
  void move_to(ProbeLinks& other);
  /// The same without those for files, and without what others inherit.
  void move_own_to(ProbeLinks& other);

 private:
  Result<void> add_multi(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);
  Result<void> add_perf(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);

  std::size_t inherited_count() const { return share_ ? share_->held.size() : 0; }
  Result<void> add_inherited(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return);
  Result<void> use(bpf_program* program, int fd, const std::vector<Probe>& probes);

  /// What a multi link of one process is on.
  struct Probed {
    std::shared_ptr<UniqueFd> file;
    std::uint64_t device = 0, inode = 0;
    std::vector<Probe> probes;
  };
  void note_probed(int fd, const std::vector<Probe>& probes);

  AttachWay way_;
  int pid_;
  std::vector<Probed> probed_;
  InheritedProbes* inherited_probes_ = nullptr;
  std::vector<UniqueFd> multi_;
  std::vector<PerfLink> perf_;
  FileLinks* file_links_ = nullptr;
  std::shared_ptr<InheritedProbes::Share> share_;  ///< until all are removed; nullptr: nothing is inherited
  std::vector<FileLinks::Use> used_;
};

}  // namespace hawk
