#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "userspace/base/result.h"
#include "userspace/base/unique_fd.h"
#include "userspace/tracer/links.h"

struct bpf_program;

namespace hawk {

/// Links for all processes that map a file: each is made for the first target that needs it and closed after the last
/// one that uses it. The BPF programs determine which process hit a probe, and return at once if it is not a target; a
/// session then omits the return probe.
class FileLinks {
 public:
  /// The program on some instructions of a file.
  struct Link {
    UniqueFd fd;
    std::uint64_t made_ns = 0;  ///< by CLOCK_MONOTONIC: from then on no call is missed, in whichever process
  };
  using Use = std::shared_ptr<Link>;

  /// Uses those links by which `program` is on all of these instructions of the file open as `fd`; makes one for those
  /// that have none. An instruction is never probed twice: a call would count twice. Fails, too, if what is probed is
  /// not the same any more, because the file was written to while others use it.
  Result<std::vector<Use>> add(bpf_program* program, int fd, const std::vector<Probe>& probes);
  /// Closes all, whether or not they are used.
  void remove_all();

 private:
  /// Device and inode.
  using File = std::pair<std::uint64_t, std::uint64_t>;
  struct Content {
    std::int64_t bytes = 0, written_s = 0, written_ns = 0;
    bool operator==(const Content&) const = default;
  };
  /// File, offset and the program's descriptor.
  using Key = std::tuple<File, std::uint64_t, int>;
  struct Known {
    Content content;
    std::uint64_t cookie = 0;
    std::weak_ptr<Link> link;
  };

  Result<void> require_same_content(const File& file, const Content& content) const;

  std::map<Key, Known> known_;
};

}  // namespace hawk
