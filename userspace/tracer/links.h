#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"

struct bpf_program;

namespace hawk {

/// Values of enum bpf_attach_type (include/uapi/linux/bpf.h). Named here because the headers of libbpf 1.4 end at 6.9.
inline constexpr unsigned kAttachTypeUprobeMulti = 48;
inline constexpr unsigned kAttachTypeUprobeSession = 57;

/// One probed instruction.
struct Probe {
  std::uint64_t file_offset = 0;
  std::uint64_t cookie = 0;
};

/// A multi or session link: one program on many instructions of one file.
struct MultiLinkSpec {
  int program_fd = -1;
  unsigned attach_type = kAttachTypeUprobeMulti;
  std::string path;
  std::vector<Probe> probes;
  int pid = 0;             ///< 0: every process
  bool on_return = false;  ///< a return probe; multi only
};

/// bpf(BPF_LINK_CREATE). The probes are in place until the descriptor is closed. On failure errno is the kernel's.
Result<UniqueFd> make_multi_link(const MultiLinkSpec& spec);

/// A perf-event uprobe: one program on one instruction.
struct PerfLinkSpec {
  bpf_program* program = nullptr;
  std::string path;
  Probe probe;
  int pid = 0;  ///< 0: every process
  bool on_return = false;
};

/// Owns a perf-event uprobe; destroying it detaches.
class PerfLink {
 public:
  static Result<PerfLink> make(const PerfLinkSpec& spec);
  PerfLink(PerfLink&& other) noexcept;
  PerfLink& operator=(PerfLink&& other) noexcept;
  ~PerfLink();

 private:
  explicit PerfLink(void* link) : link_(link) {}
  void* link_ = nullptr;  ///< a bpf_link
};

}  // namespace hawk
