#include "userspace/tracer/probe_links.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "userspace/base/threads.h"

namespace hawk {
namespace {

std::string path_of(int fd) { return fmt::format("/proc/self/fd/{}", fd); }

}  // namespace

Result<void> ProbeLinks::add(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
  if (probes.empty()) return {};
  if (inherited_probes_ != nullptr) return add_inherited(program, fd, probes, on_return);
  return way_ == AttachWay::kPerf ? add_perf(program, fd, probes, on_return)
                                  : add_multi(program, fd, probes, on_return);
}

Result<void> ProbeLinks::add_multi(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
  multi_.push_back(HAWK_TRY(make_multi_link({.program_fd = bpf_program__fd(program),
                                             .attach_type = bpf_program__expected_attach_type(program),
                                             .path = path_of(fd),
                                             .probes = probes,
                                             .pid = pid_,
                                             .on_return = on_return})));
  return {};
}

Result<void> ProbeLinks::add_perf(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
  for (const Probe& probe : probes) {
    perf_.push_back(HAWK_TRY(PerfLink::make(
        {.program = program, .path = path_of(fd), .probe = probe, .pid = pid_, .on_return = on_return})));
  }
  return {};
}

Result<void> ProbeLinks::add_inherited(bpf_program* program, int fd, const std::vector<Probe>& probes, bool on_return) {
  std::vector<InheritedProbes::Held> held = HAWK_TRY(inherited_probes_->add(program, fd, probes, on_return, pid_));
  std::move(held.begin(), held.end(), std::back_inserter(inherited_));
  return {};
}

void ProbeLinks::remove_since(const Mark& mark) {
  multi_.resize(mark.multi);
  perf_.erase(perf_.begin() + static_cast<std::ptrdiff_t>(mark.perf), perf_.end());
  inherited_.erase(inherited_.begin() + static_cast<std::ptrdiff_t>(mark.inherited), inherited_.end());
}

void ProbeLinks::remove_all() {
  destroy_at_once(perf_);
  if (inherited_probes_ != nullptr) inherited_probes_->keep(std::exchange(inherited_, {}));
  destroy_at_once(multi_);
}

void ProbeLinks::move_to(ProbeLinks& other) {
  std::move(perf_.begin(), perf_.end(), std::back_inserter(other.perf_));
  std::move(multi_.begin(), multi_.end(), std::back_inserter(other.multi_));
  perf_.clear();
  multi_.clear();
  if (inherited_probes_ != nullptr) inherited_probes_->keep(std::exchange(inherited_, {}));
}

}  // namespace hawk
