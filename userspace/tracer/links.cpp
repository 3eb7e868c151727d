#include "userspace/tracer/links.h"

#include <bpf/libbpf.h>
#include <fmt/core.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "userspace/base/system_failure.h"

namespace hawk {
namespace {

constexpr const char* kRefusedFile =
    "the file is being written to, or another tracer has probes on it that exclude others: end that, and try again";

}  // namespace

Result<UniqueFd> make_multi_link(const MultiLinkSpec& spec) {
  std::vector<unsigned long> offsets;
  std::vector<__u64> cookies;
  for (const Probe& probe : spec.probes) {
    offsets.push_back(probe.file_offset);
    cookies.push_back(probe.cookie);
  }
  // Without libbpf, because it refuses unknown attach types, and sessions are newer than Debian's libbpf.
  bpf_attr attr = {};
  attr.link_create.prog_fd = static_cast<__u32>(spec.program_fd);
  attr.link_create.attach_type = spec.attach_type;
  attr.link_create.uprobe_multi.path = reinterpret_cast<__u64>(spec.path.c_str());
  attr.link_create.uprobe_multi.offsets = reinterpret_cast<__u64>(offsets.data());
  attr.link_create.uprobe_multi.cookies = reinterpret_cast<__u64>(cookies.data());
  attr.link_create.uprobe_multi.cnt = static_cast<__u32>(offsets.size());
  attr.link_create.uprobe_multi.flags = spec.on_return ? BPF_F_UPROBE_MULTI_RETURN : 0;
  attr.link_create.uprobe_multi.pid = static_cast<__u32>(spec.pid);
  const long fd = ::syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
  if (fd < 0) {
    const int error = errno;
    tl::unexpected<Error> failure =
        system_failure(ExitCode::kPrivilege, fmt::format("attach {} uprobes", offsets.size()), error, kRefusedFile);
    errno = error;
    return failure;
  }
  return UniqueFd(static_cast<int>(fd));
}

Result<PerfLink> PerfLink::make(const PerfLinkSpec& spec) {
  LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = spec.probe.cookie, .retprobe = spec.on_return);
  bpf_link* link = bpf_program__attach_uprobe_opts(spec.program, spec.pid == 0 ? -1 : spec.pid, spec.path.c_str(),
                                                   spec.probe.file_offset, &options);
  if (link == nullptr) {
    const int error = errno;
    const bool has_no_events = error == ENOENT || error == ENODEV || error == EOPNOTSUPP;
    return system_failure(ExitCode::kPrivilege,
                          fmt::format("attach a perf-event uprobe at offset {:#x}", spec.probe.file_offset), error,
                          has_no_events ? "the kernel needs CONFIG_UPROBE_EVENTS" : kRefusedFile);
  }
  return PerfLink(link);
}

PerfLink::PerfLink(PerfLink&& other) noexcept : link_(std::exchange(other.link_, nullptr)) {}

PerfLink& PerfLink::operator=(PerfLink&& other) noexcept {
  std::swap(link_, other.link_);
  return *this;
}

PerfLink::~PerfLink() { bpf_link__destroy(static_cast<bpf_link*>(link_)); }

}  // namespace hawk
