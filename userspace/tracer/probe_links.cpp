#include "userspace/tracer/probe_links.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

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
  if (file_links_ != nullptr) return use(program, fd, probes);
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
  if (pid_ != 0) note_probed(fd, probes);
  return {};
}

void ProbeLinks::note_probed(int fd, const std::vector<Probe>& probes) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return;
  const bool is_same =
      !probed_.empty() && probed_.back().device == status.st_dev && probed_.back().inode == status.st_ino;
  auto file = is_same ? probed_.back().file : std::make_shared<UniqueFd>(::fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (*file) probed_.push_back({std::move(file), status.st_dev, status.st_ino, probes});
}

ProbeLinks ProbeLinks::make_further(int program_fd) const {
  ProbeLinks further(way_, pid_);
  for (const Probed& probed : probed_) {
    Result<UniqueFd> link = make_multi_link(
        {.program_fd = program_fd, .path = path_of(probed.file->get()), .probes = probed.probes, .pid = pid_});
    if (link) further.multi_.push_back(*std::move(link));
  }
  return further;
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
  std::move(held.begin(), held.end(), std::back_inserter(share_->held));
  return {};
}

Result<void> ProbeLinks::use(bpf_program* program, int fd, const std::vector<Probe>& probes) {
  std::vector<FileLinks::Use> links = HAWK_TRY(file_links_->add(program, fd, probes));
  std::move(links.begin(), links.end(), std::back_inserter(used_));
  return {};
}

bool ProbeLinks::are_older_than(std::uint64_t time_ns, const Mark& since) const {
  const bool has_own = multi_.size() > since.multi || perf_.size() > since.perf || inherited_count() > since.inherited;
  return !has_own && std::all_of(used_.begin() + static_cast<std::ptrdiff_t>(since.used), used_.end(),
                                 [&](const FileLinks::Use& link) { return link->made_ns < time_ns; });
}

void ProbeLinks::note_maker(const ProbeLinks* maker) {
  if (share_) inherited_probes_->note_maker(*share_, maker != nullptr ? maker->share_ : nullptr);
}

bool ProbeLinks::may_have_lost(std::uint64_t made_ns) const {
  return share_ && inherited_probes_->may_have_lost(*share_, made_ns);
}

void ProbeLinks::note_ended() {
  if (share_) share_->has_ended = true;
}

bool ProbeLinks::leave_to_others() {
  std::erase_if(used_, [](const FileLinks::Use& link) { return link.use_count() > 1; });
  return !used_.empty() || !multi_.empty() || !perf_.empty();
}

void ProbeLinks::remove_since(const Mark& mark) {
  used_.resize(mark.used);
  multi_.resize(mark.multi);
  perf_.erase(perf_.begin() + static_cast<std::ptrdiff_t>(mark.perf), perf_.end());
  if (share_) share_->held.resize(mark.inherited);
}

void ProbeLinks::remove_all() {
  destroy_at_once(perf_);
  if (share_) {
    inherited_probes_->leave(std::exchange(share_, nullptr));
    inherited_probes_->close_left();
  }
  destroy_at_once(multi_);
  destroy_at_once(used_);
}

void ProbeLinks::move_to(ProbeLinks& other) {
  move_own_to(other);
  std::move(used_.begin(), used_.end(), std::back_inserter(other.used_));
  used_.clear();
}

void ProbeLinks::move_own_to(ProbeLinks& other) {
  std::move(perf_.begin(), perf_.end(), std::back_inserter(other.perf_));
  std::move(multi_.begin(), multi_.end(), std::back_inserter(other.multi_));
  perf_.clear();
  multi_.clear();
}

}  // namespace hawk
